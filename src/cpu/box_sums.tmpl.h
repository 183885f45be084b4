/*
 * Sliding sums of type SUM, on elements T: a sum for each column, moved down a row by one addition and one
 * subtraction; the window's sum, moved right likewise. So the time does not grow with the window.
 *
 * The includer's, undefined at the end: SUM, TOTAL (the window's sums), BITS (the method's name), START(setup) (what
 * they begin with), SLIDE_KERNEL (the file with what moves right), and QUOTIENT(sum) where that wants it.
 */
#define FN(name) JOIN(JOIN(name, BITS), NAME)

static void FN(add)(SUM *restrict columns, const T *restrict row, int64_t n)
{
    for (int64_t x = 0; x < n; x++) {
        const SUM value = (SUM)row[x];
        columns[x] = (SUM)(columns[x] + value);
    }
}

static void FN(move)(SUM *restrict columns, const T *restrict enter, const T *restrict leave, int64_t n)
{
    for (int64_t x = 0; x < n; x++) {
        const SUM in = (SUM)enter[x];
        const SUM out = (SUM)leave[x];
        columns[x] = (SUM)(columns[x] + in - out);
    }
}

/* The sums of the columns beside the row: of the columns that the border reads, or of its value. */
static void FN(halo)(const twi_box_setup *setup, SUM *columns)
{
    const int64_t *from = setup->halo;
    const SUM outside =
        setup->border <= TWI_CONSTANT ? (SUM)((SUM)setup->window.height * (SUM) * (const T *)setup->outside) : 0;
    for (int64_t i = -setup->before; i < 0; i++, from++)
        columns[i] = *from < 0 ? outside : columns[*from];
    for (int64_t i = setup->row; i < setup->row + setup->after; i++, from++)
        columns[i] = *from < 0 ? outside : columns[*from];
}

#include SLIDE_KERNEL

/* One output row from the columns' sums. Meanwhile the two rows that the next one needs are brought near: else
   memory would rest while sums are computed, and the other way round. */
static void FN(row)(const twi_box_setup *setup, const SUM *columns, TOTAL *sums, T *stage, T *dst, const T *enter,
                    const T *leave)
{
    const int64_t c = setup->channels;
    const SUM *left = columns - setup->before - c; /* leaves as the window moves to element 0; zero by then */
    const SUM *right = columns + setup->after;
    TOTAL total[4];
    for (int64_t k = 0; k < 4; k++) {
        total[k] = (TOTAL)START(setup);
        for (int64_t i = c + k; k < c && left + i < right; i += c)
            total[k] += left[i];
    }
    for (int64_t x = 0; x < setup->row; x += TWI_BOX_CHUNK) {
        const int64_t n = twi_min_i64(TWI_BOX_CHUNK, setup->row - x);
        bring_near(enter + x, n * (int64_t)sizeof(T));
        bring_near(leave + x, n * (int64_t)sizeof(T));
        FN(slide)(stage, sums, right + x, left + x, n, total, setup);
        put(dst + x, stage, n * (int64_t)sizeof(T), setup->stream);
    }
}

static void JOIN(JOIN(run, BITS), NAME)(const twi_box_setup *setup, const twi_job *job)
{
    const int64_t line = TWI_LINE;
    const int32_t height = setup->window.height;
    TOTAL *sums = (TOTAL *)(void *)worker_scratch(setup, job);
    T *stage = (T *)(void *)(sums + TWI_BOX_CHUNK + line);
    SUM *columns = (SUM *)line_aligned(stage + TWI_BOX_CHUNK + line) + setup->channels + setup->before;
    memset(columns - setup->before - setup->channels, 0,
           (size_t)(setup->channels + setup->before + setup->row) * sizeof(SUM));
    for (int64_t y = job->first; y < job->last; y++) {
        const int64_t top = y - setup->window.anchor_y;
        if (y == job->first) {
            for (int64_t j = 0; j < height; j++)
                FN(add)(columns, twi_box_row(setup, &job->src, top + j), setup->row);
        } else {
            const T *enter = twi_box_row(setup, &job->src, top + height - 1);
            const T *leave = twi_box_row(setup, &job->src, top - 1);
            FN(move)(columns, enter, leave, setup->row);
        }
        FN(halo)(setup, columns);
        FN(row)
        (setup, columns, sums, stage, (T *)(void *)((char *)job->dst.data + y * job->dst.pitch),
         twi_box_row(setup, &job->src, top + height), twi_box_row(setup, &job->src, top));
    }
}
#undef FN
#undef SLIDE_KERNEL
#undef START
#undef QUOTIENT
#undef BITS
#undef TOTAL
#undef SUM
