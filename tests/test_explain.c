/* What kernels do to memory: the counts of requests whose answer is known by hand, and of whole images. */
#include <stdio.h>

#include "testing.h"
#include "verify/explain.h"

/* ---- One request --------------------------------------------------------------------------------- */

/* Lane i asks for `bytes` from first + i * step on. */
static twi_banks stride(int64_t first, int64_t step, int32_t bytes)
{
    twi_banks banks = {.bytes = bytes};
    for (int lane = 0; lane < TWI_WARP; lane++)
        banks.address[lane] = first + lane * step;
    return banks;
}

/* Lanes 2i and 2i + 1 ask for `bytes` from i * step on. */
static twi_banks pairs(int64_t step, int32_t bytes)
{
    twi_banks banks = {.bytes = bytes};
    for (int lane = 0; lane < TWI_WARP; lane++)
        banks.address[lane] = lane / 2 * step;
    return banks;
}

static void check_banks(twi_banks banks, int degree, int wavefronts)
{
    assert_int_equal(twi_count_wavefronts(&banks), wavefronts);
    assert_int_equal(banks.degree, degree);
}

static void test_banks(void **state)
{
    (void)state;
    check_banks(stride(0, 4, 4), 1, 1);     /* side by side */
    check_banks(stride(0, 128, 4), 32, 32); /* a column of a 32x32 tile of f32 */
    check_banks(stride(0, 132, 4), 1, 1);   /* padded to 33 */
    check_banks(stride(0, 8, 4), 2, 2);     /* every second word */
    check_banks(stride(0, 12, 4), 1, 1);    /* every third: odd strides meet all banks */
    check_banks(stride(0, 64, 4), 16, 16);  /* every sixteenth */
    check_banks(stride(512, 0, 4), 1, 1);   /* one word for all */
    check_banks(stride(0, 1, 1), 1, 1);     /* four bytes of a word are one */
    check_banks(stride(0, 32, 1), 8, 8);    /* a column of a 32x32 tile of bytes: four lanes to a bank's step */
    check_banks(stride(0, 8, 8), 1, 2);     /* 64 bits: halves of the warp */
    check_banks(stride(0, 16, 16), 1, 4);   /* 128 bits: quarters */
    check_banks(stride(0, 256, 8), 16, 32); /* a column of a 32x32 tile of f64 */
    check_banks(stride(0, 264, 8), 1, 2);   /* padded to 33 */
    check_banks(stride(0, 32, 16), 2, 8);   /* every second 16 bytes */
    check_banks(stride(0, 0, 8), 1, 1);     /* loads of one address: the halves are one */
    check_banks(stride(0, 0, 16), 1, 2);    /* of four quarters, two */
    check_banks(pairs(8, 8), 1, 1);         /* neighbours flat: 16 different words of 64 bits */
    check_banks(pairs(256, 8), 16, 16);     /* the same in a column */
    check_banks(pairs(16, 16), 1, 2);
    twi_banks one = stride(0, 0, 8);
    one.store = true;
    check_banks(one, 1, 2); /* stores are not put together */
    twi_banks few = stride(0, 128, 4);
    for (int lane = 3; lane < TWI_WARP; lane++)
        few.address[lane] = TWI_NO_ADDRESS;
    check_banks(few, 3, 3); /* three lanes of a column */
    twi_banks counter = stride(512, 0, 4);
    counter.store = true;
    counter.adds = TWI_ADDS_ONE;
    check_banks(counter, 1, 1); /* the hardware counts the lanes */
    counter.adds = TWI_ADDS_ANY;
    check_banks(counter, 32, 32); /* they take turns */
}

static int sectors(int64_t first, int64_t step, int32_t bytes)
{
    const twi_banks banks = stride(first, step, bytes);
    return twi_count_sectors(banks.address, bytes);
}

static void test_sectors(void **state)
{
    (void)state;
    assert_int_equal(sectors(0, 4, 4), 4);
    assert_int_equal(sectors(4, 4, 4), 5); /* not aligned */
    assert_int_equal(sectors(0, 8, 4), 8);
    assert_int_equal(sectors(0, 4096, 4), 32);
    assert_int_equal(sectors(0, 1, 1), 1);
    assert_int_equal(sectors(31, 1, 1), 2);
    assert_int_equal(sectors(0, 0, 8), 1);
    assert_int_equal(sectors(0, 16, 16), 16);
}

static void test_words(void **state)
{
    (void)state;
    assert_int_equal(twi_count_words(stride(0, 0, 4).address, 4), 1); /* a broadcast */
    assert_int_equal(twi_count_words(stride(0, 4, 4).address, 4), 32);
    assert_int_equal(twi_count_words(stride(0, 1, 1).address, 1), 8);
    assert_int_equal(twi_count_words(stride(0, 0, 8).address, 8), 1);
    assert_int_equal(twi_count_words(stride(0, 8, 8).address, 8), 32);
}

/* ---- Kernels of the test's own ------------------------------------------------------------------- */

/* The 3x3 window of the thread's output in an image whose rows are a pitch apart; none outside. */
static int64_t neighbour(const twi_kernel *kernel, const twi_visit *visit)
{
    const int64_t x = visit->block_x * kernel->block_width + visit->x;
    const int64_t y = visit->block_y * kernel->block_height + visit->y;
    const int64_t column = x + visit->step % 3 - kernel->problem->window.anchor_x;
    const int64_t row = y + visit->step / 3 - kernel->problem->window.anchor_y;
    const bool exists = x < kernel->columns && y < kernel->rows;
    const bool inside = column >= 0 && row >= 0 && column < kernel->columns && row < kernel->rows;
    return exists && inside ? row * kernel->src_pitch + column : TWI_NO_ADDRESS;
}

/* The thread's column of a tile of 32 words a row, plus what the pitch is more. */
static int64_t tile_column(const twi_kernel *kernel, const twi_visit *visit)
{
    return visit->x * kernel->src_pitch + 4 * visit->y;
}

static twi_explanation declare(const tw_problem *problem, int32_t block_width, int32_t block_height, int64_t pitch)
{
    const twi_explanation e = {
        .kernel = {.problem = problem,
                   .block_width = block_width,
                   .block_height = block_height,
                   .outputs_width = block_width,
                   .outputs_height = block_height,
                   .columns = problem->width,
                   .rows = problem->height,
                   .src_pitch = pitch},
    };
    return e;
}

static tw_problem image(int64_t width, int64_t height)
{
    const tw_problem problem = {.op = TW_OP_BOX,
                                .type = TW_U8,
                                .out_type = TW_U8,
                                .channels = 1,
                                .width = width,
                                .height = height,
                                .window = {3, 3, 1, 1}};
    return problem;
}

/* All requests of the image, one by one. */
static twi_counts follow(const twi_kernel *kernel)
{
    twi_counts sum = {0};
    const int threads = kernel->block_width * kernel->block_height;
    twi_visit visit = {0};
    for (visit.block_y = 0; visit.block_y * kernel->block_height < kernel->rows; visit.block_y++)
        for (visit.block_x = 0; visit.block_x * kernel->block_width < kernel->columns; visit.block_x++)
            for (visit.step = 0; visit.step < 9; visit.step++)
                for (int first = 0; first < threads; first += TWI_WARP) {
                    int64_t address[TWI_WARP];
                    int lanes = 0;
                    for (int lane = 0; lane < TWI_WARP; lane++) {
                        visit.x = (first + lane) % kernel->block_width;
                        visit.y = (first + lane) / kernel->block_width;
                        address[lane] = first + lane < threads ? neighbour(kernel, &visit) : TWI_NO_ADDRESS;
                        lanes += address[lane] >= 0;
                    }
                    sum.requests += lanes > 0;
                    sum.elements += lanes;
                    sum.sectors += twi_count_sectors(address, 1);
                }
    return sum;
}

/* Few blocks stand for all of an image: the counts are those of following each. */
static void test_image(void **state)
{
    static const struct {
        int64_t width;
        int64_t height;
        int32_t block_width;
        int32_t block_height;
        int32_t anchor;
    } cases[] = {{1024, 512, 16, 16, 1}, {1003, 77, 16, 16, 1}, {777, 301, 32, 8, 1}, {900, 40, 17, 5, 1},
                 {5, 5, 16, 16, 1},      {200, 9, 8, 8, 1},     {97, 161, 1, 96, 1},  {640, 480, 40, 25, 1},
                 {1025, 513, 16, 16, 0}, {513, 161, 16, 16, 2}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        tw_problem problem = image(cases[i].width, cases[i].height);
        problem.window.anchor_x = problem.window.anchor_y = cases[i].anchor;
        twi_explanation e = declare(&problem, cases[i].block_width, cases[i].block_height, 1280);
        const twi_access access = {"source", TWI_SPACE_GLOBAL, false, 1, TWI_PATH_ANY, 9, neighbour, TWI_ADDS_NOTHING};
        twi_declare(&e.kernel, access);
        assert_ok(twi_explain_declared(&e));
        const twi_counts expected = follow(&e.kernel);
        assert_int_equal(e.count, 1);
        assert_int_equal(e.accesses[0].image.requests, expected.requests);
        assert_int_equal(e.accesses[0].image.elements, expected.elements);
        assert_int_equal(e.accesses[0].image.sectors, expected.sectors);
    }
}

/* 3x3 from blocks of 16x16: 9 loads of 256 threads, eight warps of two rows. */
static void test_block(void **state)
{
    const tw_problem problem = image(4096, 4096);
    twi_explanation e = declare(&problem, 16, 16, 4096);
    const twi_access access = {"source", TWI_SPACE_GLOBAL, false, 1, TWI_PATH_ANY, 9, neighbour, TWI_ADDS_NOTHING};
    (void)state;
    twi_declare(&e.kernel, access);
    assert_ok(twi_explain_declared(&e));
    assert_int_equal(e.accesses[0].block.elements, 2304);
    assert_int_equal(e.accesses[0].block.requests, 72);
    /* a warp reads two rows of 16 bytes; those of the left column begin a byte before a sector does */
    assert_int_equal(e.accesses[0].block.sectors, 24 * (4 + 2 + 2));
    assert_int_equal(e.accesses[0].least, 2);
    assert_int_equal(e.accesses[0].most, 4);
    assert_int_equal(e.blocks_x * e.blocks_y, 65536);
}

/* Accesses of one name are one row; banks are those of the request with the most conflicts. */
static void test_tile(void **state)
{
    const tw_problem problem = image(64, 64);
    const twi_access access = {"tile", TWI_SPACE_SHARED, false, 4, TWI_PATH_ANY, 2, tile_column, TWI_ADDS_NOTHING};
    (void)state;
    for (int pad = 0; pad < 2; pad++) {
        twi_explanation e = declare(&problem, 32, 8, 128 + 4 * pad);
        twi_declare(&e.kernel, access);
        twi_declare(&e.kernel, access);
        assert_ok(twi_explain_declared(&e));
        assert_int_equal(e.count, 1);
        assert_int_equal(e.accesses[0].block.requests, 32);
        assert_int_equal(e.accesses[0].block.wavefronts, pad ? 32 : 32 * 32);
        assert_int_equal(e.accesses[0].block.conflicts, pad ? 0 : 32 * 31);
        assert_int_equal(e.accesses[0].worst.degree, pad ? 1 : 32);
        assert_int_equal(e.accesses[0].worst.address[5], 5 * (128 + 4 * pad));
    }
}

/* A texture is asked by four lanes at a time. */
static void test_texture(void **state)
{
    const tw_problem problem = image(4096, 4096);
    twi_explanation e = declare(&problem, 32, 1, 4096);
    const twi_access access = {"source", TWI_SPACE_TEXTURE, false, 1, TWI_PATH_ANY, 3, neighbour, TWI_ADDS_NOTHING};
    (void)state;
    twi_declare(&e.kernel, access);
    assert_ok(twi_explain_declared(&e));
    assert_int_equal(e.accesses[0].block.requests, 3 * 8);
    assert_int_equal(e.accesses[0].block.sectors, 9 + 8 + 9); /* the columns beside begin or end in another sector */
    assert_int_equal(e.accesses[0].most, 2);
}

static void test_limits(void **state)
{
    const tw_problem problem = image(64, 64);
    twi_explanation e = declare(&problem, 32, 8, 128);
    const twi_access access = {"source",     TWI_SPACE_GLOBAL, false,     1,
                               TWI_PATH_ANY, 1000000000,       neighbour, TWI_ADDS_NOTHING};
    (void)state;
    twi_declare(&e.kernel, access);
    assert_refused(twi_explain_declared(&e), TW_ERROR_LIMIT, "smaller window or image");
    e.kernel.accesses[0].steps = INT64_MAX;
    assert_refused(twi_explain_declared(&e), TW_ERROR_LIMIT, "more than can be counted");
    assert_refused(twi_explain(twi_variant_total, &problem, 0, 0, false, &e), TW_ERROR_ARGUMENT, "no such variant");
}

/* ---- The variants of the registry ---------------------------------------------------------------- */

static const twi_explained *access_of(const twi_explanation *e, const char *what, twi_space space, bool store)
{
    for (size_t i = 0; i < e->count; i++)
        if (strcmp(e->accesses[i].what, what) == 0 && e->accesses[i].space == space && e->accesses[i].store == store)
            return &e->accesses[i];
    fail_msg("no access %s", what);
    return NULL;
}

static bool explain(const char *name, const tw_problem *problem, bool flat, twi_explanation *e)
{
    size_t index = 0;
    if (!twi_find_explained(problem->op, name, &index))
        return false; /* a build without CUDA */
    assert_ok(twi_explain(index, problem, 0, 0, flat, e));
    return true;
}

static void test_variants(void **state)
{
    const tw_problem box = image(4096, 4096);
    tw_problem turn = image(1024, 1024);
    tw_problem table = image(1024, 1024);
    twi_explanation e = {0};
    (void)state;
    if (!explain("direct", &box, false, &e))
        skip();
    assert_int_equal(access_of(&e, "source", TWI_SPACE_GLOBAL, false)->block.elements, 2304);
    assert_int_equal(e.kernel.barriers, 0);
    assert_true(explain("tiled", &box, false, &e));
    assert_int_equal(access_of(&e, "source", TWI_SPACE_GLOBAL, false)->block.elements, 324);
    assert_int_equal(access_of(&e, "tile", TWI_SPACE_SHARED, false)->block.elements, 2304);
    assert_int_equal(e.kernel.shared, 324);
    assert_int_equal(e.kernel.barriers, 1);

    turn.op = TW_OP_TRANSPOSE;
    turn.turn = TW_TRANSPOSE;
    turn.type = turn.out_type = TW_F32;
    turn.window = (tw_window){1, 1, 0, 0};
    assert_true(explain("shared", &turn, false, &e));
    assert_int_equal(access_of(&e, "tile", TWI_SPACE_SHARED, false)->most, 32);
    assert_true(explain("padded", &turn, false, &e));
    assert_int_equal(access_of(&e, "tile", TWI_SPACE_SHARED, false)->most, 1);
    assert_true(explain("swizzled", &turn, false, &e));
    assert_int_equal(access_of(&e, "tile", TWI_SPACE_SHARED, false)->most, 1);
    assert_int_equal(e.kernel.shared, 4096);
    assert_true(explain("rows", &turn, false, &e));
    assert_int_equal(access_of(&e, "source", TWI_SPACE_GLOBAL, false)->most, 4);
    assert_int_equal(access_of(&e, "output", TWI_SPACE_GLOBAL, true)->most, 32);

    table.op = TW_OP_LUT;
    table.table = &table;
    table.table_channels = 1;
    table.window = (tw_window){1, 1, 0, 0};
    assert_true(explain("constant", &table, false, &e));
    assert_int_equal(access_of(&e, "table", TWI_SPACE_CONSTANT, false)->most, 32);
    assert_true(explain("constant", &table, true, &e));
    assert_int_equal(access_of(&e, "table", TWI_SPACE_CONSTANT, false)->most, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_banks),   cmocka_unit_test(test_sectors), cmocka_unit_test(test_words),
        cmocka_unit_test(test_image),   cmocka_unit_test(test_block),   cmocka_unit_test(test_tile),
        cmocka_unit_test(test_texture), cmocka_unit_test(test_limits),  cmocka_unit_test(test_variants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
