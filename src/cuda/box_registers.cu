/*
 * box, variant `registers`: means of 3x3 windows, by the kernels of registers.cuh.
 */
#include <cuda_fp16.h>

#include "cuda/registers.cuh"

/* ---- Means of three extended rows -------------------------------------------------------------- */

/* u8: two sums in a word, of the bytes at p and p + 2. `even` and `odd` hold the pairs that begin at byte 0 and
   at byte 1 of each word; the others are put together. */
TWI_DEVICE uint32_t pair_at(const uint32_t *even, const uint32_t *odd, int p)
{
    const uint32_t *from = p % 2 ? odd : even;
    return p % 4 < 2 ? from[p / 4] : __byte_perm(from[p / 4], from[p / 4 + 1], 0x5432);
}

/* An integer i below 1024 has, as a half, the value i units, a unit being 2^-24. So sums of bytes are added two at a
   time on the float pipe, which is idle otherwise, and exactly as long as they stay within 2048 units. */
TWI_DEVICE __half2 units(uint32_t pair)
{
    return *(const __half2 *)&pair;
}

TWI_DEVICE uint32_t sum_of_pairs(uint32_t a, uint32_t b)
{
    const __half2 sum = __hadd2(units(a), units(b));
    return *(const uint32_t *)&sum;
}

TWI_DEVICE __half2 both_units(uint16_t bits)
{
    return units(bits * 0x10001u);
}

/* floor((sum + r) / 9), r = 0 or 4, from `shifted` = sum + r - 1156, as bits: rounded to whole units,
   (sum + r - 1156) / 9 + 128 is that, because 1156 / 9 = 128 + 4/9 and the error of the half next to 1/9 adds
   less than 1/18. */
TWI_DEVICE uint32_t ninths(__half2 shifted)
{
    const uint16_t ninth = 0x2f1c;
    const __half2 mean = __hfma2(shifted, both_units(ninth), both_units(128));
    return *(const uint32_t *)&mean;
}

/* HALOS: the extended rows have theirs. Else those of the sums are taken from the neighbouring threads: fewer than the
   rows'. */
template <int C, int W, int ROWS, bool HALOS>
TWI_DEVICE void mean_bytes(uint32_t (*x)[extended<uint8_t, C, W>::words], bool nearest, uint32_t (*out)[W])
{
    constexpr int words = extended<uint8_t, C, W>::words;
    constexpr int begin = HALOS ? 0 : 1;
    const uint16_t negative = 0x8000;
    const __half2 shift = both_units(nearest ? negative | 1152 : negative | 1156);
    uint32_t even[ROWS + 2][words];
    uint32_t odd[ROWS + 2][words];
#pragma unroll
    for (int i = 0; i < ROWS + 2; i++) {
#pragma unroll
        for (int k = begin; k < words - begin; k++) {
            even[i][k] = x[i][k] & 0x00ff00ff;
            odd[i][k] = __byte_perm(x[i][k], 0, 0x4341);
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        uint32_t e[words + 1];
        uint32_t o[words + 1];
        /* rows r and r + 1, r even, share the sum of the two rows that both windows hold */
        const int shared = r % 2 ? r : r + 1;
        const int other = r % 2 ? r + 2 : r;
#pragma unroll
        for (int k = begin; k < words - begin; k++) {
            e[k] = sum_of_pairs(even[other][k], sum_of_pairs(even[shared][k], even[shared + 1][k]));
            o[k] = sum_of_pairs(odd[other][k], sum_of_pairs(odd[shared][k], odd[shared + 1][k]));
        }
        if constexpr (!HALOS) {
            e[0] = __shfl_up_sync(~0u, e[W], 1);
            o[0] = __shfl_up_sync(~0u, o[W], 1);
            e[W + 1] = __shfl_down_sync(~0u, e[1], 1);
            o[W + 1] = __shfl_down_sync(~0u, o[1], 1);
        }
#pragma unroll
        for (int k = 0; k < W; k++) {
            const int p = 4 * (k + 1);
            const __half2 a = __hadd2(__hadd2(units(pair_at(e, o, p)), units(pair_at(e, o, p + C))), shift);
            const __half2 b = __hadd2(__hadd2(units(pair_at(e, o, p + 1 - C)), units(pair_at(e, o, p + 1))), shift);
            out[r][k] = __byte_perm(ninths(__hadd2(a, units(pair_at(e, o, p - C)))),
                                    ninths(__hadd2(b, units(pair_at(e, o, p + 1 + C)))), 0x6240);
        }
    }
}

/* The other integers, an element at a time. A sum of nine has 20 bits for 16-bit types, else 36. */
template <typename T> struct integer_sum {
    typedef int32_t type;
};
template <> struct integer_sum<int32_t> {
    typedef int64_t type;
};

TWI_DEVICE uint16_t mean_of(int32_t sum, bool nearest, uint16_t)
{
    return (uint16_t)(((uint32_t)sum + (nearest ? 4 : 0)) / 9);
}

TWI_DEVICE int16_t mean_of(int32_t sum, bool nearest, int16_t)
{
    return (int16_t)((int32_t)((uint32_t)(sum + 9 * 32768 + (nearest ? 4 : 0)) / 9) - 32768);
}

TWI_DEVICE int32_t mean_of(int64_t sum, bool nearest, int32_t)
{
    return (int32_t)twi_mean_integer(sum, 9, nearest);
}

template <typename T, int C, int W, int ROWS>
TWI_DEVICE void mean_integers(uint32_t (*x)[extended<T, C, W>::words], bool nearest, uint32_t (*out)[W])
{
    using row_type = extended<T, C, W>;
    using sum_type = typename integer_sum<T>::type;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        sum_type column[row_type::own + 2 * C];
#pragma unroll
        for (int i = 0; i < row_type::own + 2 * C; i++) {
            const int e = row_type::first - C + i;
            column[i] = (sum_type)get_element<T>(x[r], e) + (sum_type)get_element<T>(x[r + 1], e) +
                        (sum_type)get_element<T>(x[r + 2], e);
        }
#pragma unroll
        for (int k = 0; k < W; k++)
            out[r][k] = 0;
#pragma unroll
        for (int i = 0; i < row_type::own; i++)
            put_element<T>(out[r], i, mean_of(column[i] + column[i + C] + column[i + 2 * C], nearest, T()));
    }
}

/* Floats: exact.h's order, rows first. */
TWI_DEVICE double sum_of(double a, double b, double c)
{
    return a + (b + c);
}

TWI_DEVICE twi_pair sum_of(twi_pair a, twi_pair b, twi_pair c)
{
    return twi_pair_add(a, twi_pair_add(b, c));
}

TWI_DEVICE double term_of(float value)
{
    return (double)value;
}

TWI_DEVICE twi_pair term_of(double value)
{
    return twi_pair_of(value);
}

TWI_DEVICE float mean_of(double sum)
{
    return twi_mean_f32(sum, 1.0 / 9);
}

TWI_DEVICE double mean_of(twi_pair sum)
{
    return twi_mean_f64(sum, 9);
}

template <typename T, int C, int W, int ROWS>
TWI_DEVICE void mean_floats(uint32_t (*x)[extended<T, C, W>::words], uint32_t (*out)[W])
{
    using row_type = extended<T, C, W>;
    decltype(term_of(T())) sum[ROWS + 2][row_type::own];
#pragma unroll
    for (int r = 0; r < ROWS + 2; r++) {
#pragma unroll
        for (int i = 0; i < row_type::own; i++) {
            const int e = row_type::first + i;
            sum[r][i] = sum_of(term_of(get_element<T>(x[r], e - C)), term_of(get_element<T>(x[r], e)),
                               term_of(get_element<T>(x[r], e + C)));
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int i = 0; i < row_type::own; i++)
            put_element<T>(out[r], i, mean_of(sum_of(sum[r][i], sum[r + 1][i], sum[r + 2][i])));
}

template <typename T, int C> struct mean {
    template <int W, int ROWS, bool HALOS>
    TWI_DEVICE void make(const twi_cuda_box &box, uint32_t (*x)[extended<T, C, W>::words], uint32_t (*out)[W])
    {
        if constexpr (sizeof(T) == 1)
            mean_bytes<C, W, ROWS, HALOS>(x, box.nearest, out);
        else if constexpr ((T)0.5 == (T)0)
            mean_integers<T, C, W, ROWS>(x, box.nearest, out);
        else
            mean_floats<T, C, W, ROWS>(x, out);
    }
};

extern "C" const twi_cuda_registers twi_cuda_box_registers[TWI_CUDA_TYPES][4] = TWI_REGISTERS_TABLE(mean);
