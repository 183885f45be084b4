/* From options to filters: masks and footprints are read, defaults depend on the filter. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/recipe.h"

/* ---- Numbers, in the line or in a file ----------------------------------------------------------- */

/* Nothing but what numbers are written with, and a digit among it: else it is a file's name. */
static bool looks_like_numbers(const char *text)
{
    return text[strspn(text, "0123456789+-.eE,; \t\r\n")] == '\0' && text[strcspn(text, "0123456789")] != '\0';
}

static size_t count_of(const twi_matrix *matrix)
{
    return (size_t)matrix->width * (size_t)matrix->height;
}

static twi_exit read_numbers(const char *option, const char *text, int32_t most, twi_matrix *result)
{
    char name[80];
    const bool numbers = looks_like_numbers(text);
    if (!numbers && strcmp(text, "-") != 0 && access(text, F_OK) != 0) {
        (void)twi_complain(TWI_EXIT_USAGE, "--%s '%s': neither numbers, such as '1 2 1; 2 4 2', nor a file", option,
                           text);
        return TWI_EXIT_USAGE;
    }
    (void)snprintf(name, sizeof name, "'%.60s'", text);
    const twi_io_status status =
        numbers ? twi_io_matrix_parse(name, text, most, result) : twi_io_matrix_read(text, most, result);
    if (status != TWI_IO_OK)
        return twi_complain_option(option, status);
    for (size_t i = 0; i < count_of(result); i++) {
        if (isfinite(result->values[i]))
            continue;
        twi_io_matrix_free(result);
        return twi_complain(TWI_EXIT_USAGE, "--%s %s holds a NaN or an infinity: give finite numbers", option, name);
    }
    return TWI_EXIT_DONE;
}

/* A mask for problems that have none: of 8 bits, no symmetry, and no product of a row and a column. */
static twi_exit invent_numbers(int32_t width, int32_t height, twi_matrix *result)
{
    *result = (twi_matrix){.width = width, .height = height};
    result->values = calloc((size_t)width * (size_t)height, sizeof *result->values);
    if (!result->values)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: a mask of %dx%d numbers", (int)width, (int)height);
    for (int32_t j = 0; j < height; j++)
        for (int32_t i = 0; i < width; i++)
            result->values[(size_t)j * (size_t)width + (size_t)i] = (5 * i + 7 * j + 3 * i * j) % 17 - 8;
    return TWI_EXIT_DONE;
}

static double sum_of(const twi_matrix *matrix)
{
    double sum = 0;
    for (size_t i = 0; i < count_of(matrix); i++)
        sum += matrix->values[i];
    return sum;
}

/* Moves the numbers into the recipe, as integers unless `real`. */
static twi_exit keep_values(const char *option, twi_matrix *matrix, bool real, void **memory, tw_values *values)
{
    int32_t *integers;
    if (real) {
        values->floats = *memory = matrix->values;
        matrix->values = NULL;
        return TWI_EXIT_DONE;
    }
    values->integers = *memory = integers = malloc(count_of(matrix) * sizeof *integers);
    if (!integers)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: --%s of %zu numbers", option, count_of(matrix));
    for (size_t i = 0; i < count_of(matrix); i++) {
        const double value = matrix->values[i];
        if (value < INT32_MIN || value > INT32_MAX)
            return twi_complain(TWI_EXIT_USAGE,
                                "--%s: %.0f is no integer of 32 bits: %.0f.0 in its place makes a float mask", option,
                                value, value);
        integers[i] = (int32_t)value;
    }
    return TWI_EXIT_DONE;
}

/* ---- Windows ------------------------------------------------------------------------------------- */

/* The window of that size, with the anchor that was asked for. */
static twi_exit set_window(const twi_args *args, int32_t width, int32_t height, tw_window *window)
{
    *window = tw_window_centred(width, height);
    if (!args->anchor_given)
        return TWI_EXIT_DONE;
    window->anchor_x = args->window.anchor_x;
    window->anchor_y = args->window.anchor_y;
    if (window->anchor_x < width && window->anchor_y < height)
        return TWI_EXIT_DONE;
    return twi_complain(TWI_EXIT_USAGE, "--anchor %d,%d lies outside the %dx%d window: give 0,0 to %d,%d",
                        (int)window->anchor_x, (int)window->anchor_y, (int)width, (int)height, (int)width - 1,
                        (int)height - 1);
}

static const char *size_option(const twi_args *args)
{
    return args->command->kind == TWI_OPERAND_FILE ? "size" : "window";
}

/* ---- Masks --------------------------------------------------------------------------------------- */

static twi_exit set_divisor(const twi_args *args, double sum, twi_recipe *recipe)
{
    recipe->divisor = args->divisor_is_sum ? sum : args->divisor;
    if (recipe->divisor == 0)
        return twi_complain(TWI_EXIT_USAGE, "--divisor sum: the sum of the weights is 0: give a number");
    return TWI_EXIT_DONE;
}

/* Half a turn, of the mask and its anchor. */
static void turn(twi_matrix *matrix, tw_window *window)
{
    const size_t count = count_of(matrix);
    for (size_t i = 0; i < count / 2; i++) {
        const double kept = matrix->values[i];
        matrix->values[i] = matrix->values[count - 1 - i];
        matrix->values[count - 1 - i] = kept;
    }
    window->anchor_x = window->width - 1 - window->anchor_x;
    window->anchor_y = window->height - 1 - window->anchor_y;
}

static twi_exit use_mask(const twi_args *args, twi_command_id filter, twi_matrix *matrix, twi_recipe *recipe)
{
    twi_exit result = set_window(args, matrix->width, matrix->height, &recipe->window);
    if (result == TWI_EXIT_DONE && filter == TWI_CONVOLVE)
        turn(matrix, &recipe->window);
    if (result == TWI_EXIT_DONE)
        result = set_divisor(args, sum_of(matrix), recipe);
    return result == TWI_EXIT_DONE ? keep_values("mask", matrix, matrix->real, &recipe->memory[0], &recipe->mask)
                                   : result;
}

static twi_exit take_mask(const twi_args *args, twi_command_id filter, bool invent, twi_recipe *recipe)
{
    twi_matrix matrix = {0};
    twi_exit result;
    if (args->mask && (args->size_given || args->radius_given))
        return twi_complain(TWI_EXIT_USAGE, "--mask sets the window: leave --radius and --window out");
    if (!args->mask && !invent)
        return twi_complain(TWI_EXIT_USAGE, "%s needs --mask: give numbers, such as '1 2 1; 2 4 2; 1 2 1', or a file",
                            args->command->name);
    if (args->mask)
        result = read_numbers("mask", args->mask, TW_MAX_MASK, &matrix);
    else if (args->window.width > TW_MAX_MASK || args->window.height > TW_MAX_MASK)
        result = twi_complain(TWI_EXIT_USAGE, "--window %dx%d: a mask has sides of 1 to %d", (int)args->window.width,
                              (int)args->window.height, TW_MAX_MASK);
    else
        result = invent_numbers(args->window.width, args->window.height, &matrix);
    if (result == TWI_EXIT_DONE)
        result = use_mask(args, filter, &matrix, recipe);
    twi_io_matrix_free(&matrix);
    return result;
}

/* The row or the column of sepconv: numbers in one line, whichever way it runs. */
static twi_exit take_line(const char *option, const char *text, int32_t invented, twi_matrix *line)
{
    if (!text && invented > TW_MAX_MASK)
        return twi_complain(TWI_EXIT_USAGE, "--window: %d weights along an axis, %d are the most", (int)invented,
                            TW_MAX_MASK);
    const twi_exit result = text ? read_numbers(option, text, TW_MAX_MASK, line) : invent_numbers(invented, 1, line);
    if (result == TWI_EXIT_DONE && line->width > 1 && line->height > 1)
        return twi_complain(TWI_EXIT_USAGE, "--%s: %dx%d numbers: give one line of them", option, (int)line->width,
                            (int)line->height);
    return result;
}

static twi_exit use_lines(const twi_args *args, twi_matrix *row, twi_matrix *column, twi_recipe *recipe)
{
    const bool real = row->real || column->real;
    twi_exit result = set_window(args, (int32_t)count_of(row), (int32_t)count_of(column), &recipe->window);
    if (result == TWI_EXIT_DONE)
        result = set_divisor(args, sum_of(row) * sum_of(column), recipe);
    if (result == TWI_EXIT_DONE)
        result = keep_values("row", row, real, &recipe->memory[0], &recipe->mask);
    return result == TWI_EXIT_DONE ? keep_values("col", column, real, &recipe->memory[1], &recipe->column) : result;
}

static twi_exit take_lines(const twi_args *args, bool invent, twi_recipe *recipe)
{
    twi_matrix row = {0};
    twi_matrix column = {0};
    if ((!args->row || !args->column) && (!invent || args->row || args->column))
        return twi_complain(TWI_EXIT_USAGE, "sepconv needs --row and --col: give numbers, such as '1 2 1', or files");
    if (args->row && (args->size_given || args->radius_given))
        return twi_complain(TWI_EXIT_USAGE, "--row and --col set the window: leave --radius and --window out");
    twi_exit result = take_line("row", args->row, args->window.width, &row);
    if (result == TWI_EXIT_DONE)
        result = take_line("col", args->column, args->window.height, &column);
    if (result == TWI_EXIT_DONE)
        result = use_lines(args, &row, &column, recipe);
    twi_io_matrix_free(&row);
    twi_io_matrix_free(&column);
    return result;
}

static twi_exit take_derivative(const twi_args *args, tw_derivative derivative, twi_recipe *recipe)
{
    int32_t *mask = recipe->memory[0] = malloc(9 * sizeof *mask);
    if (args->size_given || args->radius_given)
        return twi_complain(TWI_EXIT_USAGE, "window %dx%d: the masks of derivatives are 3x3: leave --window out",
                            (int)args->window.width, (int)args->window.height);
    if (!mask)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: a mask");
    const tw_status status = tw_derivative_mask(derivative, args->direction, mask);
    if (status != TW_OK)
        return twi_complain_status(status);
    recipe->window = tw_window_centred(3, 3);
    recipe->mask.integers = mask;
    return set_divisor(args, 0, recipe);
}

/* ---- Order filters ------------------------------------------------------------------------------- */

/* The table's zeros and ones as bytes; `footprint` has room for them. */
static twi_exit set_footprint(const twi_args *args, const twi_matrix *matrix, uint8_t *footprint)
{
    bool empty = true;
    for (size_t i = 0; i < count_of(matrix); i++) {
        const double value = matrix->values[i];
        if (value != 0 && value != 1)
            return twi_complain(TWI_EXIT_USAGE, "--footprint '%s': %g in it: give 0 and 1 alone", args->footprint,
                                value);
        footprint[i] = value == 1;
        empty = empty && value == 0;
    }
    if (empty)
        return twi_complain(TWI_EXIT_USAGE, "--footprint '%s' is empty: at least one position must be 1",
                            args->footprint);
    return TWI_EXIT_DONE;
}

static twi_exit use_footprint(const twi_args *args, const twi_matrix *matrix, twi_recipe *recipe)
{
    const twi_exit result = set_window(args, matrix->width, matrix->height, &recipe->window);
    if (result != TWI_EXIT_DONE)
        return result;
    uint8_t *footprint = calloc((size_t)matrix->width, (size_t)matrix->height);
    recipe->footprint = recipe->memory[0] = footprint;
    if (!footprint)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: a footprint of %zu positions", count_of(matrix));
    return set_footprint(args, matrix, footprint);
}

static twi_exit take_footprint(const twi_args *args, twi_recipe *recipe)
{
    twi_matrix matrix = {0};
    twi_exit result = read_numbers("footprint", args->footprint, TW_MAX_FOOTPRINT, &matrix);
    if (result == TWI_EXIT_DONE)
        result = use_footprint(args, &matrix, recipe);
    twi_io_matrix_free(&matrix);
    return result;
}

static twi_exit take_shape(const twi_args *args, twi_recipe *recipe)
{
    const tw_window *window = &args->window;
    recipe->window = *window;
    if (args->shape == TW_RECT)
        return TWI_EXIT_DONE;
    if (window->width > TW_MAX_FOOTPRINT || window->height > TW_MAX_FOOTPRINT)
        return twi_complain(TWI_EXIT_USAGE, "--%s %dx%d: with --shape, sides of 1 to %d", size_option(args),
                            (int)window->width, (int)window->height, TW_MAX_FOOTPRINT);
    uint8_t *footprint = malloc((size_t)window->width * (size_t)window->height);
    recipe->footprint = recipe->memory[0] = footprint;
    if (!footprint)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: a footprint");
    const tw_status status = tw_footprint(args->shape, window->width, window->height, footprint);
    return status == TW_OK ? TWI_EXIT_DONE : twi_complain_status(status);
}

static twi_exit take_order(const twi_args *args, twi_command_id filter, twi_recipe *recipe)
{
    const twi_exit result = args->footprint ? take_footprint(args, recipe) : take_shape(args, recipe);
    if (result != TWI_EXIT_DONE)
        return result;
    const tw_order_params params = {recipe->window, recipe->footprint, recipe->border};
    const int64_t count = tw_order_count(&params);
    if (filter == TWI_RANK && args->rank < 0 && args->percentile < 0)
        return twi_complain(TWI_EXIT_USAGE, "rank needs --k or --percentile: --k 0 is the lowest of %" PRId64 " values",
                            count);
    if (args->rank >= count)
        return twi_complain(TWI_EXIT_USAGE, "--k %" PRId64 ": the window has %" PRId64 " positions: give 0 to %" PRId64,
                            args->rank, count, count - 1);
    if (filter == TWI_RANK)
        recipe->rank = args->rank >= 0 ? args->rank : tw_percentile_rank(count, args->percentile);
    else
        recipe->rank = count / 2; /* the median */
    return TWI_EXIT_DONE;
}

static twi_exit take_gaussian(const twi_args *args, twi_recipe *recipe)
{
    recipe->window = (tw_window){0};
    if (!args->size_given && !args->radius_given)
        return TWI_EXIT_DONE;
    recipe->window = args->window;
    if (args->window.width % 2 != 0 && args->window.height % 2 != 0)
        return TWI_EXIT_DONE;
    return twi_complain(TWI_EXIT_USAGE, "--%s %dx%d: gaussian takes odd sides", size_option(args),
                        (int)args->window.width, (int)args->window.height);
}

/* ---- Turns ----------------------------------------------------------------------------------------- */

static twi_exit take_rotation(const twi_args *args, twi_recipe *recipe)
{
    if (args->degrees == 0)
        return twi_complain(TWI_EXIT_USAGE, "rotate needs --degrees: 90, 180 or 270, clockwise");
    recipe->turn = args->degrees == 90 ? TW_ROTATE_90 : args->degrees == 180 ? TW_ROTATE_180 : TW_ROTATE_270;
    return TWI_EXIT_DONE;
}

static twi_exit take_flip(const twi_args *args, twi_recipe *recipe)
{
    recipe->turn = args->flip;
    if (recipe->turn == 0)
        return twi_complain(TWI_EXIT_USAGE,
                            "flip needs --axis: horizontal (exchanges left and right), vertical or both");
    return TWI_EXIT_DONE;
}

/* ---- Tables -------------------------------------------------------------------------------------- */

static twi_exit take_table(const twi_args *args, bool invent, twi_recipe *recipe)
{
    if (!args->table && !invent)
        return twi_complain(TWI_EXIT_USAGE, "lut needs --table: the name of a file, text or .npy");
    if (!args->table)
        return TWI_EXIT_DONE; /* which one, the image's type says */
    const twi_io_status status = twi_io_matrix_read(args->table, 65536, &recipe->table_read);
    recipe->memory[1] = recipe->table_read.values;
    return status == TWI_IO_OK ? TWI_EXIT_DONE : twi_complain_option("table", status);
}

/* ---- All ----------------------------------------------------------------------------------------- */

static const struct {
    bool is_one; /* operation, and not built of several */
    tw_op op;
} filters[TWI_COMMAND_COUNT] = {
    [TWI_BOX] = {true, TW_OP_BOX},
    [TWI_CORRELATE] = {true, TW_OP_CORRELATE},
    [TWI_CONVOLVE] = {true, TW_OP_CORRELATE},
    [TWI_SEPCONV] = {true, TW_OP_SEPCONV},
    [TWI_GAUSSIAN] = {true, TW_OP_GAUSSIAN},
    [TWI_SOBEL] = {true, TW_OP_CORRELATE},
    [TWI_SCHARR] = {true, TW_OP_CORRELATE},
    [TWI_PREWITT] = {true, TW_OP_CORRELATE},
    [TWI_LAPLACIAN] = {true, TW_OP_CORRELATE},
    [TWI_MIN] = {true, TW_OP_MIN},
    [TWI_MAX] = {true, TW_OP_MAX},
    [TWI_MEDIAN] = {true, TW_OP_RANK},
    [TWI_RANK] = {true, TW_OP_RANK},
    [TWI_TRANSPOSE] = {true, TW_OP_TRANSPOSE},
    [TWI_ROTATE] = {true, TW_OP_TRANSPOSE},
    [TWI_FLIP] = {true, TW_OP_TRANSPOSE},
    [TWI_LUT] = {true, TW_OP_LUT},
    [TWI_SCAN] = {true, TW_OP_SCAN},
    [TWI_INTEGRAL] = {true, TW_OP_INTEGRAL},
    [TWI_STATS] = {true, TW_OP_REDUCE},
};

/* Operations that are a part of a command of another name. */
static const struct {
    const char *name;
    twi_command_id filter;
    tw_op op;
} parts[] = {
    {"reduce", TWI_STATS, TW_OP_REDUCE},
    {"histogram", TWI_STATS, TW_OP_HISTOGRAM},
};
enum { PARTS = sizeof parts / sizeof parts[0] };

twi_exit twi_recipe_take(const twi_args *args, twi_command_id filter, bool invent, twi_recipe *recipe)
{
    *recipe = (twi_recipe){
        .op = filters[filter].op,
        .window = args->window,
        .border = args->border,
        .divisor = 1,
    };
    if (!args->border_given)
        recipe->border.mode = filter == TWI_BOX ? TW_BORDER_ZERO : TW_BORDER_REPLICATE;
    switch (filter) {
    case TWI_BOX:
    case TWI_SCAN:
    case TWI_INTEGRAL:
        return TWI_EXIT_DONE;
    case TWI_CORRELATE:
    case TWI_CONVOLVE:
        return take_mask(args, filter, invent, recipe);
    case TWI_SEPCONV:
        return take_lines(args, invent, recipe);
    case TWI_GAUSSIAN:
        return take_gaussian(args, recipe);
    case TWI_SOBEL:
        return take_derivative(args, TW_SOBEL, recipe);
    case TWI_SCHARR:
        return take_derivative(args, TW_SCHARR, recipe);
    case TWI_PREWITT:
        return take_derivative(args, TW_PREWITT, recipe);
    case TWI_LAPLACIAN:
        return take_derivative(args, TW_LAPLACIAN, recipe);
    case TWI_TRANSPOSE:
        recipe->turn = TW_TRANSPOSE;
        return TWI_EXIT_DONE;
    case TWI_ROTATE:
        return take_rotation(args, recipe);
    case TWI_FLIP:
        return take_flip(args, recipe);
    case TWI_STATS:
        return TWI_EXIT_DONE;
    case TWI_LUT:
        return take_table(args, invent, recipe);
    default:
        return take_order(args, filter, recipe);
    }
}

void twi_recipe_free(twi_recipe *recipe)
{
    free(recipe->memory[0]);
    free(recipe->memory[1]);
    *recipe = (twi_recipe){0};
}

twi_recipe twi_recipe_share(const twi_recipe *recipe)
{
    twi_recipe share = *recipe;
    share.memory[0] = share.memory[1] = NULL;
    return share;
}

tw_status twi_recipe_problem(const twi_args *args, const twi_recipe *recipe, const tw_image *src, const tw_image *dst,
                             tw_problem *problem)
{
    const tw_box_params box = {recipe->window, recipe->border, args->rounding};
    const tw_correlate_params correlate = {recipe->window, recipe->mask,   recipe->divisor,
                                           args->offset,   recipe->border, args->rounding};
    const tw_sepconv_params sepconv = {recipe->window, recipe->mask,   recipe->column, recipe->divisor,
                                       args->offset,   recipe->border, args->rounding};
    const tw_gaussian_params gaussian = {args->sigma_x,        args->sigma_y,         args->truncate,
                                         recipe->window.width, recipe->window.height, recipe->border};
    const tw_order_params order = {recipe->window, recipe->footprint, recipe->border};
    const tw_lut_params lut = {recipe->table, recipe->table_channels};
    const tw_scan_params scan = {args->lines == TW_AXIS_COUNT ? TW_AXIS_X : args->lines, args->exclusive};
    const tw_reduce_params reduce = {.axis = args->lines == TW_AXIS_COUNT ? TW_AXIS_ALL : args->lines,
                                     .figures = args->figures};
    switch (recipe->op) {
    case TW_OP_BOX:
        return tw_box_problem(src, dst, &box, problem);
    case TW_OP_CORRELATE:
        return tw_correlate_problem(src, dst, &correlate, problem);
    case TW_OP_SEPCONV:
        return tw_sepconv_problem(src, dst, &sepconv, problem);
    case TW_OP_GAUSSIAN:
        return tw_gaussian_problem(src, dst, &gaussian, problem);
    case TW_OP_TRANSPOSE:
        return tw_transpose_problem(src, dst, recipe->turn, problem);
    case TW_OP_LUT:
        return tw_lut_problem(src, dst, &lut, problem);
    case TW_OP_SCAN:
        return tw_scan_problem(src, dst, &scan, problem);
    case TW_OP_INTEGRAL:
        return tw_integral_problem(src, dst, problem);
    case TW_OP_REDUCE:
        return tw_reduce_problem(src, dst, &reduce, problem);
    case TW_OP_HISTOGRAM:
        return tw_histogram_problem(src, dst, problem);
    default:
        return tw_order_problem(recipe->op, src, dst, &order, recipe->rank, problem);
    }
}

const char *twi_filter_name(size_t index, const void *unused)
{
    (void)unused;
    for (int i = 0; i < TWI_COMMAND_COUNT; i++)
        if (filters[i].is_one && index-- == 0)
            return twi_commands[i].name;
    return index < PARTS ? parts[index].name : NULL;
}

bool twi_find_filter(const char *name, twi_command_id *filter, tw_op *op)
{
    for (int i = 0; i < TWI_COMMAND_COUNT; i++) {
        if (filters[i].is_one && strcmp(twi_commands[i].name, name) == 0) {
            *filter = (twi_command_id)i;
            *op = filters[i].op;
            return true;
        }
    }
    for (int i = 0; i < PARTS; i++) {
        if (strcmp(parts[i].name, name) == 0) {
            *filter = parts[i].filter;
            *op = parts[i].op;
            return true;
        }
    }
    const twi_command *command = twi_find_command(name);
    const char *near = twi_near(name, twi_filter_name, NULL);
    if (command && command->kind == TWI_OPERAND_FILE)
        (void)twi_complain(TWI_EXIT_USAGE, "'%s' is built of min and max: name one of these", name);
    else
        (void)twi_complain(TWI_EXIT_USAGE,
                           near ? "unknown operation '%s': did you mean '%s'?" : "unknown operation '%s': see %s", name,
                           near ? near : "'tilewise help'");
    return false;
}
