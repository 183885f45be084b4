/* The sums of n windows: sums[x] = sums[x - c] + right[x] - left[x], then their quotients. `total` holds sums[-c] ...
   sums[-1], and then the last c. */
#define SLIDE(C)                                                                                                       \
    for (int64_t x = 0; x < n; x += C)                                                                                 \
        for (int k = 0; k < C; k++)                                                                                    \
            sums[x + k] = running[k] += right[x + k] - left[x + k];

static void FN(slide)(T *restrict out, TOTAL *restrict sums, const SUM *restrict right, const SUM *restrict left,
                      int64_t n, TOTAL *total, const twi_box_setup *setup)
{
    const twi_box_divider d = setup->divider;
    TOTAL running[4] = {total[0], total[1], total[2], total[3]};
    switch (setup->channels) {
    case 1:
        SLIDE(1)
        break;
    case 2:
        SLIDE(2)
        break;
    case 3:
        SLIDE(3)
        break;
    default:
        SLIDE(4)
        break;
    }
    memcpy(total, running, sizeof running);
    for (int64_t x = 0; x < n; x++)
        out[x] = QUOTIENT(sums[x]);
}
#undef SLIDE
