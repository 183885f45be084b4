/* What an image says about a filter: its table, and the size and type of the result. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/recipe.h"

/* ---- Tables -------------------------------------------------------------------------------------- */

/* Whether elements of the type hold the value, rounded if `rounded`: floats to theirs, -0 to 0. */
static bool holds(tw_type type, double value, bool rounded)
{
    static const double ends[][2] = {
        [TW_U8] = {0, UINT8_MAX},
        [TW_U16] = {0, UINT16_MAX},
        [TW_I16] = {INT16_MIN, INT16_MAX},
        [TW_I32] = {INT32_MIN, INT32_MAX},
    };
    if (type == TW_F64)
        return true;
    if (type == TW_F32 && isfinite(value))
        return fabs(value) <= (double)3.40282347e38f && (rounded || (double)(float)value == value);
    if (type == TW_F32)
        return true;
    if (value == 0 && signbit(value)) /* integers have no -0 */
        return rounded;
    return value >= ends[type][0] && value <= ends[type][1] && value == floor(value);
}

static void store(tw_type type, double value, void *element)
{
    switch (type) {
    case TW_U8:
        *(uint8_t *)element = (uint8_t)value;
        break;
    case TW_U16:
        *(uint16_t *)element = (uint16_t)value;
        break;
    case TW_I16:
        *(int16_t *)element = (int16_t)value;
        break;
    case TW_I32:
        *(int32_t *)element = (int32_t)value;
        break;
    case TW_F32:
        *(float *)element = (float)value;
        break;
    default:
        *(double *)element = value;
        break;
    }
}

/* The first value that the type does not hold, NULL if there is none. */
static const double *misfit(const twi_matrix *table, tw_type type, bool rounded)
{
    const size_t count = (size_t)table->width * (size_t)table->height;
    for (size_t i = 0; i < count; i++)
        if (!holds(type, table->values[i], rounded))
            return &table->values[i];
    return NULL;
}

/* The image's type, or else the first that holds every entry. */
static tw_type type_for(const twi_matrix *table, tw_type type)
{
    if (!misfit(table, type, false))
        return type;
    for (type = TW_U8; type < TW_F64 && misfit(table, type, false);)
        type++;
    return type;
}

static twi_exit set_table(const twi_matrix *table, const tw_image *src, tw_type asked, twi_recipe *recipe)
{
    const size_t count = (size_t)table->width * (size_t)table->height;
    const tw_type type = asked == TW_ELEMENT_COUNT ? type_for(table, src->type) : asked;
    const size_t size = tw_type_size(type);
    const double *wrong = misfit(table, type, true);
    if (wrong)
        return twi_complain(TWI_EXIT_USAGE, "--table: %.17g in it, which --dtype %s cannot hold", *wrong,
                            tw_type_name(type));
    char *entries = recipe->memory[0] = malloc(count * size);
    if (!entries)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: a table of %zu entries", count);
    for (size_t i = 0; i < count; i++)
        store(type, table->values[i], entries + i * size);
    recipe->table = entries;
    recipe->table_channels = table->height;
    recipe->out_type = type;
    return TWI_EXIT_DONE;
}

/* A row of entries, or one a channel. */
static twi_exit check_table(const twi_args *args, twi_matrix *table, const tw_image *src)
{
    const int32_t entries = src->type == TW_U8 ? 256 : 65536;
    if (table->width == 1 && table->height == entries) { /* a column of entries is as good */
        table->width = entries;
        table->height = 1;
    }
    if (table->width == entries && (table->height == 1 || table->height == src->channels))
        return TWI_EXIT_DONE;
    return twi_complain(TWI_EXIT_USAGE,
                        "--table '%.60s': %d entries in %d rows: a %s image of %d channels takes %d in 1 row%s",
                        args->table, (int)table->width, (int)table->height, tw_type_name(src->type), (int)src->channels,
                        (int)entries, src->channels > 1 ? ", or in one a channel" : "");
}

/* Numbers that every type holds, for problems without a table. */
static twi_exit invent_table(const tw_image *src, twi_matrix *table)
{
    *table = (twi_matrix){.width = src->type == TW_U8 ? 256 : 65536, .height = 1};
    table->values = malloc((size_t)table->width * sizeof *table->values);
    if (!table->values)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: a table");
    for (int32_t i = 0; i < table->width; i++)
        table->values[i] = (37 * i + 11) % 256;
    return TWI_EXIT_DONE;
}

static twi_exit fit_table(const twi_args *args, const tw_image *src, tw_type asked, twi_recipe *recipe)
{
    twi_matrix table = recipe->table_read; /* whose values stay the recipe's */
    twi_matrix invented = {0};
    if (src->type != TW_U8 && src->type != TW_U16)
        return twi_complain(TWI_EXIT_USAGE, "lut takes u8 and u16 images: this one is %s", tw_type_name(src->type));
    twi_exit result = table.values ? check_table(args, &table, src) : invent_table(src, &invented);
    if (result == TWI_EXIT_DONE)
        result = set_table(table.values ? &table : &invented, src, asked, recipe);
    twi_io_matrix_free(&invented);
    return result;
}

/* ---- Running sums ---------------------------------------------------------------------------------- */

static twi_exit fit_sums(const twi_args *args, twi_command_id filter, const tw_image *src, tw_type asked,
                         twi_recipe *recipe)
{
    const tw_scan_params params = {args->lines == TW_AXIS_COUNT ? TW_AXIS_X : args->lines, args->exclusive};
    const tw_type type = filter == TWI_SCAN ? tw_scan_type(src, &params) : tw_integral_type(src);
    recipe->out_type = asked == TW_ELEMENT_COUNT ? type : asked;
    if (recipe->out_type == TW_ELEMENT_COUNT)
        return twi_complain(TWI_EXIT_MEMORY, "no type holds the sums of so many pixels");
    if (filter == TWI_INTEGRAL) {
        recipe->out_width++;
        recipe->out_height++;
    }
    return TWI_EXIT_DONE;
}

/* ---- Records and counts ------------------------------------------------------------------------------ */

static void fit_records(const twi_args *args, const tw_image *src, twi_recipe *recipe)
{
    recipe->out_type = recipe->op == TW_OP_REDUCE ? TW_STATS : TW_U64;
    recipe->out_width = recipe->op == TW_OP_HISTOGRAM ? (src->type == TW_U8 ? 256 : 65536)
                        : args->lines == TW_AXIS_Y    ? src->width
                                                      : 1;
    recipe->out_height = recipe->op == TW_OP_REDUCE && args->lines == TW_AXIS_X ? src->height : 1;
}

/* ---- All ----------------------------------------------------------------------------------------- */

twi_exit twi_recipe_fit(const twi_args *args, twi_command_id filter, const tw_image *src, tw_type asked,
                        twi_recipe *recipe)
{
    const bool weighs = recipe->mask.integers || recipe->mask.floats;
    recipe->out_width = src->width;
    recipe->out_height = src->height;
    recipe->out_type = asked == TW_ELEMENT_COUNT ? src->type : asked;
    if ((unsigned)recipe->turn & 1) {
        recipe->out_width = src->height;
        recipe->out_height = src->width;
    }
    if (asked != TW_ELEMENT_COUNT && asked >= TW_TYPE_COUNT && filter != TWI_SCAN && filter != TWI_INTEGRAL)
        return twi_complain(TWI_EXIT_USAGE, "--to %s: %s makes pixels of u8, u16, i16, i32, f32 or f64",
                            tw_type_name(asked), twi_commands[filter].name);
    if (filter == TWI_STATS) {
        fit_records(args, src, recipe);
        return TWI_EXIT_DONE;
    }
    if (filter == TWI_LUT)
        return fit_table(args, src, asked, recipe);
    if (filter == TWI_SCAN || filter == TWI_INTEGRAL)
        return fit_sums(args, filter, src, asked, recipe);
    if (!weighs && recipe->out_type != src->type)
        return twi_complain(TWI_EXIT_USAGE, "--%s %s: %s keeps the image's type, which is %s: leave --%s out",
                            args->type == asked ? "dtype" : "to", tw_type_name(asked), twi_commands[filter].name,
                            tw_type_name(src->type), args->type == asked ? "dtype" : "to");
    return TWI_EXIT_DONE;
}
