/*
 * Images that are spread over ranks: every result has the bytes that one process makes of the whole image, which each
 * rank does for itself. Started by mpirun with any number of ranks. A rank that finds a difference says so and goes
 * on, since the others would wait for it.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mpi/ranks.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static tw_mpi *mpi;
static tw_context *alone; /* one process, all of the image */
static int failures;
static int checks;

__attribute__((format(printf, 1, 2))) static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "rank %d of %d: ", tw_mpi_rank(mpi), tw_mpi_size(mpi));
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    failures++;
}

/* What cannot be gone on from. */
static void must(tw_status status, const char *what)
{
    if (status == TW_OK)
        return;
    fprintf(stderr, "%s: %s / %s\n", what, tw_mpi_error_message(), tw_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void expect(bool fine, const char *what)
{
    checks++;
    if (!fine)
        fail("%s", what);
}

static void expect_refused(tw_status got, tw_status status, const char *words)
{
    checks++;
    if (got != status || !strstr(tw_mpi_error_message(), words))
        fail("%s, \"%s\"; expected %s, \"%s\"", tw_status_name(got), tw_mpi_error_message(), tw_status_name(status),
             words);
}

/* ---- Images ------------------------------------------------------------------------------------------------- */

static tw_image make_whole(int64_t width, int64_t height, int channels, tw_type type)
{
    tw_image image = {0};
    must(tw_image_create(alone, width, height, channels, type, TW_MEMORY_HOST, &image), "an image");
    memset(image.data, 0x5a, (size_t)(image.pitch * image.height));
    return image;
}

/* The same pixels on every rank: any values, for floats with fractions, some NaN and infinities among many. */
static void fill(const tw_image *image, unsigned seed)
{
    unsigned state = seed;
    for (int64_t y = 0; y < image->height; y++)
        for (int64_t i = 0; i < image->width * image->channels; i++) {
            char *row = (char *)image->data + y * image->pitch;
            state = state * 1664525u + 1013904223u;
            const uint32_t bits = state >> 7;
            const double value = ((double)bits - (1 << 24)) / 1024 / (1 + bits % 97);
            switch (image->type) {
            case TW_U8:
                ((uint8_t *)row)[i] = (uint8_t)bits;
                break;
            case TW_U16:
                ((uint16_t *)row)[i] = (uint16_t)bits;
                break;
            case TW_I16:
                ((int16_t *)row)[i] = (int16_t)(bits & 0xffff);
                break;
            case TW_I32:
                ((int32_t *)row)[i] = (int32_t)(bits & 0xfffff) - 0x80000;
                break;
            case TW_F32:
                ((float *)row)[i] = (float)value;
                break;
            default:
                ((double *)row)[i] = value;
                break;
            }
        }
}

static tw_mpi_image spread(const tw_image *whole)
{
    tw_mpi_image image;
    int64_t first = 0;
    int64_t last = 0;
    must(tw_mpi_image_create(mpi, whole->width, whole->height, whole->channels, whole->type, &image), "rows");
    tw_mpi_rows(mpi, whole->height, tw_mpi_rank(mpi), &first, &last);
    for (int64_t y = first; y < last; y++)
        memcpy((char *)image.rows.data + (y - first) * image.rows.pitch, (const char *)whole->data + y * whole->pitch,
               (size_t)(whole->width * twi_pixel_bytes(whole)));
    return image;
}

/* Whether this rank's rows are those of the whole image. */
static void compare(const tw_mpi_image *image, const tw_image *whole, const char *what)
{
    int64_t first = 0;
    int64_t last = 0;
    tw_mpi_rows(mpi, whole->height, tw_mpi_rank(mpi), &first, &last);
    checks++;
    for (int64_t y = first; y < last; y++) {
        const char *row = (const char *)image->rows.data + (y - first) * image->rows.pitch;
        if (memcmp(row, (const char *)whole->data + y * whole->pitch,
                   (size_t)(whole->width * twi_pixel_bytes(whole))) != 0) {
            fail("%s: row %" PRId64 " differs", what, y);
            return;
        }
    }
}

/* The problem on the ranks against one process. `again`: so many runs more, in place. */
static void check(const tw_problem *problem, const tw_image *src, int again)
{
    char text[200];
    int64_t width = 0;
    int64_t height = 0;
    tw_plan *plan = NULL;
    tw_mpi_plan *spread_plan = NULL;
    (void)tw_problem_text(problem, text, sizeof text);
    must(tw_problem_size(problem, &width, &height), text);
    tw_image expected = make_whole(width, height, problem->channels, problem->out_type);
    must(tw_plan_create(alone, problem, NULL, &plan), text);
    must(tw_plan_run(plan, src, &expected), text);
    tw_mpi_image from = spread(src);
    tw_mpi_image to;
    must(tw_mpi_image_create(mpi, width, height, problem->channels, problem->out_type, &to), text);
    const tw_status status = tw_mpi_run(mpi, problem, &from, &to);
    if (status != TW_OK)
        fail("%s: %s", text, tw_mpi_error_message());
    else
        compare(&to, &expected, text);
    if (again > 0 && status == TW_OK) {
        tw_problem inner = *problem;
        inner.in_place = true;
        tw_plan_destroy(plan);
        must(tw_plan_create(alone, &inner, NULL, &plan), text);
        must(tw_mpi_plan_create(mpi, &inner, &spread_plan), text);
        for (int i = 0; i < again; i++) {
            must(tw_plan_run(plan, &expected, &expected), text);
            must(tw_mpi_plan_run(spread_plan, &to, &to), text);
        }
        compare(&to, &expected, text);
        tw_mpi_plan_destroy(spread_plan);
    }
    tw_plan_destroy(plan);
    tw_image_free(alone, &expected);
    tw_mpi_image_free(mpi, &from);
    tw_mpi_image_free(mpi, &to);
}

static const int64_t sizes[][2] = {{1, 1}, {9, 1}, {1, 9}, {5, 3}, {37, 23}, {64, 7}, {33, 130}, {300, 65}};

/* ---- Tests -------------------------------------------------------------------------------------------------- */

static void test_scatter_gather(void)
{
    for (size_t i = 0; i < COUNT(sizes); i++) {
        for (int root = 0; root < tw_mpi_size(mpi); root++) {
            const bool mine = tw_mpi_rank(mpi) == root;
            tw_image whole = make_whole(sizes[i][0], sizes[i][1], 3, TW_U16);
            tw_image back = make_whole(sizes[i][0], sizes[i][1], 3, TW_U16);
            tw_mpi_image rows;
            fill(&whole, 7);
            must(tw_mpi_image_create(mpi, whole.width, whole.height, 3, TW_U16, &rows), "rows");
            must(tw_mpi_scatter(mpi, root, mine ? &whole : NULL, &rows), "scatter");
            compare(&rows, &whole, "scatter");
            must(tw_mpi_gather(mpi, root, &rows, mine ? &back : NULL), "gather");
            for (int64_t y = 0; mine && y < whole.height; y++)
                expect(memcmp((char *)whole.data + y * whole.pitch, (char *)back.data + y * back.pitch,
                              (size_t)whole.width * 6) == 0,
                       "gather");
            tw_mpi_image_free(mpi, &rows);
            tw_image_free(alone, &whole);
            tw_image_free(alone, &back);
        }
    }
}

static void test_turns(void)
{
    for (size_t i = 0; i < COUNT(sizes); i++) {
        for (int turn = 1; turn < TW_TURN_COUNT; turn++) {
            for (int channels = 1; channels <= 3; channels += 2) {
                tw_image src = make_whole(sizes[i][0], sizes[i][1], channels, TW_U16);
                const bool turned = (turn & TW_TRANSPOSE) != 0;
                tw_image dst =
                    make_whole(turned ? src.height : src.width, turned ? src.width : src.height, channels, TW_U16);
                tw_problem problem;
                fill(&src, (unsigned)turn);
                must(tw_transpose_problem(&src, &dst, (tw_turn)turn, &problem), "turn");
                check(&problem, &src, turned ? 0 : 1);
                tw_image_free(alone, &src);
                tw_image_free(alone, &dst);
            }
        }
    }
}

static void test_reductions(void)
{
    static const unsigned figures[] = {TW_FIGURE_ALL, TW_FIGURE_MEAN, TW_FIGURE_ARGMAX | TW_FIGURE_STD,
                                       TW_FIGURE_COUNT_NONZERO};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int type = TW_U8; type < TW_TYPE_COUNT; type++)
            for (int axis = TW_AXIS_X; axis <= TW_AXIS_ALL; axis++)
                for (size_t f = 0; f < COUNT(figures); f++) {
                    const tw_reduce_params params = {.axis = (tw_axis)axis, .figures = figures[f]};
                    tw_image src = make_whole(sizes[i][0], sizes[i][1], 2, (tw_type)type);
                    tw_image dst =
                        make_whole(axis == TW_AXIS_Y ? src.width : 1, axis == TW_AXIS_X ? src.height : 1, 2, TW_STATS);
                    tw_problem problem;
                    fill(&src, (unsigned)type + 11);
                    must(tw_reduce_problem(&src, &dst, &params, &problem), "reduce");
                    check(&problem, &src, 0);
                    tw_image_free(alone, &src);
                    tw_image_free(alone, &dst);
                }
}

static void test_histograms(void)
{
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int type = TW_U8; type <= TW_U16; type++) {
            tw_image src = make_whole(sizes[i][0], sizes[i][1], 3, (tw_type)type);
            tw_image dst = make_whole(type == TW_U8 ? 256 : 65536, 1, 3, TW_U64);
            tw_problem problem;
            fill(&src, 3);
            must(tw_histogram_problem(&src, &dst, &problem), "histogram");
            check(&problem, &src, 0);
            tw_image_free(alone, &src);
            tw_image_free(alone, &dst);
        }
}

static void check_sums(const tw_image *src, tw_type out_type, const tw_scan_params *params)
{
    tw_problem problem;
    tw_image dst = make_whole(src->width + !params, src->height + !params, src->channels, out_type);
    const tw_status status =
        params ? tw_scan_problem(src, &dst, params, &problem) : tw_integral_problem(src, &dst, &problem);
    if (status != TW_ERROR_LIMIT) { /* more than the type holds */
        must(status, "sums");
        check(&problem, src, 0);
    }
    tw_image_free(alone, &dst);
}

static void test_running_sums(void)
{
    static const struct {
        tw_type from;
        tw_type to;
    } types[] = {{TW_U8, TW_U32},  {TW_U8, TW_F64},  {TW_U16, TW_U64}, {TW_I16, TW_I32},
                 {TW_I32, TW_I64}, {TW_F32, TW_F32}, {TW_F32, TW_F64}, {TW_F64, TW_F64}};
    /* the last one has lines of several spans, cut within */
    static const int64_t more[][2] = {{1000, 70}, {16384, 5}};
    for (size_t i = 0; i < COUNT(sizes) + COUNT(more); i++) {
        const int64_t *size = i < COUNT(sizes) ? sizes[i] : more[i - COUNT(sizes)];
        for (size_t t = 0; t < COUNT(types); t++) {
            tw_image src = make_whole(size[0], size[1], 2, types[t].from);
            fill(&src, (unsigned)i);
            for (int kind = 0; kind < 6; kind++) {
                const tw_scan_params params = {(tw_axis)(kind / 2), kind % 2};
                check_sums(&src, types[t].to, &params);
            }
            if (types[t].to != TW_F32)
                check_sums(&src, types[t].to, NULL);
            tw_image_free(alone, &src);
        }
    }
}

/* Every border and window, in chains of three that exchange what they need; halos larger than a rank's rows, and than
   the image. */
static void test_filters(void)
{
    static const int windows[][4] = {{1, 1, 0, 0}, {3, 3, 1, 1},   {2, 4, 0, 0},  {2, 4, 1, 3},
                                     {5, 7, 4, 0}, {3, 41, 1, 20}, {1, 90, 0, 89}};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t w = 0; w < COUNT(windows); w++)
            for (int border = TW_BORDER_ZERO; border < TW_BORDER_COUNT; border++) {
                const tw_window window = {windows[w][0], windows[w][1], windows[w][2], windows[w][3]};
                const tw_border with = {(tw_border_mode)border, 3};
                const tw_type type = (tw_type)((i + w + (size_t)border) % TW_TYPE_COUNT);
                const tw_box_params box = {window, with, TW_ROUND_NEAREST};
                const tw_order_params order = {window, NULL, with};
                tw_image src = make_whole(sizes[i][0], sizes[i][1], 1 + (int)(w % 3), type);
                tw_image dst = make_whole(src.width, src.height, src.channels, type);
                tw_problem problem;
                fill(&src, (unsigned)(i + w));
                must(border == TW_BORDER_IGNORE ? tw_order_problem(TW_OP_MAX, &src, &dst, &order, 0, &problem)
                                                : tw_box_problem(&src, &dst, &box, &problem),
                     "filter");
                check(&problem, &src, 2);
                tw_image_free(alone, &src);
                tw_image_free(alone, &dst);
            }
}

/* One of each other filter, as they come out of the same cut. */
static void test_other_filters(void)
{
    static const int32_t mask[] = {1, -2, 3, 4, 5, -6};
    static const double row[] = {0.25, 0.5, -0.125};
    static uint16_t table[256];
    const tw_border wrap = {TW_BORDER_WRAP, 0};
    const tw_correlate_params correlate = {{2, 3, 1, 2}, {mask, NULL}, 3, 1, wrap, TW_ROUND_FLOOR};
    const tw_sepconv_params sepconv = {{3, 3, 0, 2}, {NULL, row}, {NULL, row}, 1, 0, wrap, TW_ROUND_FLOOR};
    const tw_gaussian_params gaussian = {1.5, 2, 4, 0, 0, {TW_BORDER_MIRROR, 0}};
    const tw_order_params order = {{3, 5, 1, 2}, NULL, wrap};
    const tw_lut_params lut = {table, 1};
    for (int i = 0; i < 256; i++)
        table[i] = (uint16_t)(i * i);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        tw_image u8 = make_whole(sizes[i][0], sizes[i][1], 2, TW_U8);
        tw_image other = make_whole(sizes[i][0], sizes[i][1], 2, TW_U8);
        tw_image u16 = make_whole(sizes[i][0], sizes[i][1], 2, TW_U16);
        tw_image f32 = make_whole(sizes[i][0], sizes[i][1], 2, TW_F32);
        tw_image f32_other = make_whole(sizes[i][0], sizes[i][1], 2, TW_F32);
        tw_problem problem;
        fill(&u8, 3);
        fill(&f32, 4);
        must(tw_correlate_problem(&u8, &u16, &correlate, &problem), "correlate");
        check(&problem, &u8, 0);
        must(tw_sepconv_problem(&f32, &f32_other, &sepconv, &problem), "sepconv");
        check(&problem, &f32, 1);
        must(tw_gaussian_problem(&u8, &other, &gaussian, &problem), "gaussian");
        check(&problem, &u8, 1);
        must(tw_order_problem(TW_OP_RANK, &f32, &f32_other, &order, 7, &problem), "rank");
        check(&problem, &f32, 1);
        must(tw_lut_problem(&u8, &u16, &lut, &problem), "lut");
        check(&problem, &u8, 0);
        tw_image_free(alone, &u8);
        tw_image_free(alone, &other);
        tw_image_free(alone, &u16);
        tw_image_free(alone, &f32);
        tw_image_free(alone, &f32_other);
    }
}

/* ---- Files --------------------------------------------------------------------------------------------------- */

/* The same name on all ranks, in the folder that they were started in; the first makes the file, of `size` bytes. */
static const char *new_file(const char *name, long size)
{
    static char paths[2][64];
    static int next;
    char *path = paths[next++ % 2];
    int number = (int)getpid();
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof paths[0], "test_mpi.%d.%s", number, name);
    if (tw_mpi_rank(mpi) == 0) {
        FILE *file = fopen(path, "wb");
        for (long i = 0; file && i < size; i++)
            fputc('h', file);
        if (!file || fclose(file) != 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return path;
}

static void remove_file(const char *path)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (tw_mpi_rank(mpi) == 0)
        remove(path);
}

/* The whole file, by a rank alone: `offset` bytes of the head, then the image. */
static void expect_file(const char *path, long offset, const tw_image *whole)
{
    const size_t row = (size_t)(whole->width * twi_pixel_bytes(whole));
    char *bytes = malloc(row + (size_t)offset);
    FILE *file = fopen(path, "rb");
    bool fine = bytes && file && fread(bytes, 1, (size_t)offset, file) == (size_t)offset;
    for (int64_t y = 0; fine && y < whole->height; y++)
        fine = fread(bytes, 1, row, file) == row && memcmp(bytes, (char *)whole->data + y * whole->pitch, row) == 0;
    expect(fine && fgetc(file) == EOF, "a file has other bytes than the image");
    if (file)
        fclose(file);
    free(bytes);
}

static void check_file_pass(const tw_image *src, tw_border_mode border, int64_t most_bytes)
{
    enum { HEAD = 37 };
    const tw_box_params params = {{3, 6, 0, 4}, {border, 0}, TW_ROUND_FLOOR};
    tw_image dst = make_whole(src->width, src->height, src->channels, src->type);
    tw_problem problem;
    const tw_mpi_file from = {new_file("from", HEAD), HEAD};
    const tw_mpi_file to = {new_file("to", HEAD), HEAD};
    must(tw_box_problem(src, &dst, &params, &problem), "box");
    must(tw_box(alone, src, &dst, &params), "box");
    tw_mpi_image rows = spread(src);
    tw_mpi_image made;
    must(tw_mpi_image_create(mpi, src->width, src->height, src->channels, src->type, &made), "rows");
    must(tw_mpi_write(mpi, &from, &rows), "write");
    must(tw_mpi_filter(mpi, &problem, &from, &to, most_bytes), "filter");
    expect_file(from.path, HEAD, src);
    expect_file(to.path, HEAD, &dst);
    must(tw_mpi_read(mpi, &to, &made), "read");
    compare(&made, &dst, "from file to file");
    tw_mpi_image_free(mpi, &rows);
    tw_mpi_image_free(mpi, &made);
    tw_image_free(alone, &dst);
    remove_file(from.path);
    remove_file(to.path);
}

static void test_files(void)
{
    static const int64_t most[] = {0, 1, 3000};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int border = TW_BORDER_REPLICATE; border <= TW_BORDER_WRAP; border++) {
            tw_image src = make_whole(sizes[i][0], sizes[i][1], 2, TW_U16);
            fill(&src, (unsigned)border);
            check_file_pass(&src, (tw_border_mode)border, most[(i + (size_t)border) % COUNT(most)]);
            tw_image_free(alone, &src);
        }
}

/* ---- One rank fails: all say so ------------------------------------------------------------------------------- */

static void test_failures(void)
{
    const int last = tw_mpi_size(mpi) - 1;
    const bool bad = tw_mpi_rank(mpi) == last;
    char words[32] = "";
    tw_image whole = make_whole(20, 30, 1, TW_U8);
    tw_image dst = make_whole(20, 30, 1, TW_U8);
    fill(&whole, 1);
    tw_mpi_image rows = spread(&whole);
    tw_mpi_image other = spread(&dst);
    tw_problem problem;
    const tw_box_params params = {{3, 3, 1, 1}, {TW_BORDER_WRAP, 0}, TW_ROUND_FLOOR};
    if (last > 0)
        snprintf(words, sizeof words, "rank %d: ", last);
    must(tw_box_problem(&whole, &dst, &params, &problem), "box");

    tw_mpi_image wrong = other;
    wrong.rows.width -= bad;
    expect_refused(tw_mpi_run(mpi, &problem, &rows, &wrong), TW_ERROR_ARGUMENT, words);
    expect_refused(tw_mpi_scatter(mpi, last, bad ? &whole : NULL, &wrong), TW_ERROR_ARGUMENT, words);
    expect_refused(tw_mpi_gather(mpi, last + 1, &rows, NULL), TW_ERROR_ARGUMENT, "root");
    wrong = other;
    wrong.rows.data = bad ? NULL : wrong.rows.data;
    expect_refused(tw_mpi_run(mpi, &problem, &rows, &wrong), TW_ERROR_ARGUMENT, words);
    expect_refused(tw_mpi_run(mpi, &problem, &rows, &rows), TW_ERROR_ARGUMENT, "in_place");
    problem.window.height = 0;
    expect_refused(tw_mpi_run(mpi, &problem, &rows, &other), TW_ERROR_ARGUMENT, "window");
    problem.window.height = 3;

    const char *path = new_file("short", 595);
    expect_refused(tw_mpi_read(mpi, &(tw_mpi_file){path, 0}, &other), TW_ERROR_FILE, "595 bytes");
    expect_refused(tw_mpi_filter(mpi, &problem, &(tw_mpi_file){path, 0}, &(tw_mpi_file){path, 0}, 0), TW_ERROR_FILE,
                   "read");
    remove_file(path);
    expect_refused(tw_mpi_read(mpi, &(tw_mpi_file){"/no/such/file", 0}, &other), TW_ERROR_FILE, "/no/such/file");
    expect_refused(tw_mpi_write(mpi, &(tw_mpi_file){"/no/such/file", 0}, &rows), TW_ERROR_FILE, "/no/such/file");

    /* a full disk: whichever rank writes */
    const struct rlimit none = {300, RLIM_INFINITY};
    struct rlimit before;
    path = new_file("full", 0);
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &none);
    expect_refused(tw_mpi_write(mpi, &(tw_mpi_file){path, 0}, &rows), TW_ERROR_FILE, "written");
    setrlimit(RLIMIT_FSIZE, &before);
    remove_file(path);

    /* and none of it is left behind */
    must(tw_mpi_run(mpi, &problem, &rows, &other), "box");
    must(tw_box(alone, &whole, &dst, &params), "box");
    compare(&other, &dst, "after failures");
    tw_mpi_image_free(mpi, &rows);
    tw_mpi_image_free(mpi, &other);
    tw_image_free(alone, &whole);
    tw_image_free(alone, &dst);
}

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
    {"scatter and gather", test_scatter_gather},
    {"filters", test_filters},
    {"other filters", test_other_filters},
    {"turns", test_turns},
    {"reductions", test_reductions},
    {"histograms", test_histograms},
    {"running sums", test_running_sums},
    {"files", test_files},
    {"failures", test_failures},
};

int main(int argc, char **argv)
{
    tw_context_options options = tw_context_defaults();
    int all = 0;
    MPI_Init(&argc, &argv);
    signal(SIGXFSZ, SIG_IGN);                                       /* a write past the limit fails */
    const bool device = argc > 1 && strcmp(argv[1], "--auto") == 0; /* the ranks use GPUs, if there are some */
    options.backend = device ? TW_AUTO : TW_CPU;
    must(tw_mpi_create(MPI_COMM_WORLD, &options, &mpi), "tw_mpi_create");
    options.backend = TW_CPU;
    options.threads = 1;
    must(tw_context_create(&options, &alone), "tw_context_create");
    if (tw_mpi_rank(mpi) == 0)
        printf("%d ranks on %s\n", tw_mpi_size(mpi), tw_backend_name(tw_context_backend(tw_mpi_context(mpi))));
    for (int pass = 0; pass < (device ? 1 : 2); pass++) {
        const double start = MPI_Wtime();
        mpi->most_bytes = pass == 0 ? mpi->most_bytes : 1000; /* many small messages, of a few rows or one */
        for (size_t i = 0; i < COUNT(tests); i++) {
            tests[i].run();
            if (tw_mpi_rank(mpi) == 0)
                printf("%s%s: %d checks, %d failures, %.1f s\n", tests[i].name, pass ? ", small messages" : "", checks,
                       failures, MPI_Wtime() - start);
        }
    }
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    tw_context_destroy(alone);
    tw_mpi_destroy(mpi);
    MPI_Finalize();
    return all > 0;
}
