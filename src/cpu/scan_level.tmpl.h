/* scan and integral for a level: the sums of a tile, the kernels of all types, run(). */
#include "cpu/level.h"
#include "cpu/scan.h"

enum { LEAD = 16 /* elements before a tile's, so that it begins at a line */ };

#ifdef LEVEL_VECTOR
#include "cpu/scan_vector.tmpl.h"
#else
static void scan_u32(uint32_t *sums, uint32_t carry)
{
    for (int i = 0; i < TWI_SCAN_TILE; i++)
        sums[i] = carry += sums[i];
}

static void scan_u64(uint64_t *sums, uint64_t carry)
{
    for (int i = 0; i < TWI_SCAN_TILE; i++)
        sums[i] = carry += sums[i];
}

/* Returns the tile's total; `base` is g + x. */
static double scan_f64(double *sums, double base, bool exclusive)
{
    double q[1 + TWI_SCAN_QUADS] = {0}; /* of the quad before each */
    for (int l = 0; l < TWI_SCAN_QUADS; l++) {
        double *const r = sums + 4 * l;
        r[1] = r[0] + r[1];
        r[3] = r[1] + (r[2] + r[3]);
        r[2] = r[1] + r[2];
        q[1 + l] = r[3];
    }
    for (int distance = 1; distance < TWI_SCAN_QUADS; distance *= 2)
        for (int l = TWI_SCAN_QUADS - 1; l >= distance; l--)
            q[1 + l] = q[1 + l - distance] + q[1 + l];
    for (int l = 0; l < TWI_SCAN_QUADS; l++) {
        double *const r = sums + 4 * l;
        const double before = base + q[l];
        r[3] = before + (exclusive ? r[2] : r[3]);
        r[2] = before + (exclusive ? r[1] : r[2]);
        r[1] = before + (exclusive ? r[0] : r[1]);
        r[0] = before + (exclusive ? 0 : r[0]);
    }
    return q[TWI_SCAN_QUADS];
}
#endif

/* A tile's values, with LEAD elements of room before them, become sums; where those begin. */
INLINE const uint32_t *tile_u32(twi_scan_line *line, uint32_t *sums, bool exclusive)
{
    sums[-1] = (uint32_t)line->integer;
    scan_u32(sums, sums[-1]);
    line->integer = sums[TWI_SCAN_TILE - 1];
    return exclusive ? sums - 1 : sums;
}

INLINE const uint64_t *tile_u64(twi_scan_line *line, uint64_t *sums, bool exclusive)
{
    sums[-1] = line->integer;
    scan_u64(sums, sums[-1]);
    line->integer = sums[TWI_SCAN_TILE - 1];
    return exclusive ? sums - 1 : sums;
}

INLINE const double *tile_f64(twi_scan_line *line, double *sums, bool exclusive)
{
    twi_prefix_step(&line->prefix, scan_f64(sums, line->prefix.base, exclusive));
    return sums;
}

#define SAME(sum) (sum)

/* twi_canonical_f32 and _f64 by comparing bits, which compilers do in vectors. */
INLINE float to_f32(double sum)
{
    const float value = (float)sum;
    float result;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits;
    memcpy(&result, &bits, sizeof result);
    return result;
}

INLINE double to_f64(double sum)
{
    double result;
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    bits = (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u ? 0x7ff8000000000000u : bits;
    memcpy(&result, &bits, sizeof result);
    return result;
}

#define T uint8_t
#define O uint32_t
#define A uint32_t
#define NAME u8_32
#define TILE tile_u32
#define STORE SAME
#include "cpu/scan_type.tmpl.h"

#define T uint8_t
#define O uint64_t
#define A uint64_t
#define NAME u8_64
#define TILE tile_u64
#define STORE SAME
#include "cpu/scan_type.tmpl.h"

#define T uint8_t
#define O double
#define A double
#define NAME u8_f64
#define TILE tile_f64
#define STORE to_f64
#include "cpu/scan_type.tmpl.h"

#define T uint16_t
#define O uint32_t
#define A uint32_t
#define NAME u16_32
#define TILE tile_u32
#define STORE SAME
#include "cpu/scan_type.tmpl.h"

#define T uint16_t
#define O uint64_t
#define A uint64_t
#define NAME u16_64
#define TILE tile_u64
#define STORE SAME
#include "cpu/scan_type.tmpl.h"

#define T uint16_t
#define O double
#define A double
#define NAME u16_f64
#define TILE tile_f64
#define STORE to_f64
#include "cpu/scan_type.tmpl.h"

#define T int16_t
#define O uint32_t
#define A uint32_t
#define NAME i16_32
#define TILE tile_u32
#define STORE SAME
#include "cpu/scan_type.tmpl.h"

#define T int16_t
#define O uint64_t
#define A uint64_t
#define NAME i16_64
#define TILE tile_u64
#define STORE SAME
#include "cpu/scan_type.tmpl.h"

#define T int16_t
#define O double
#define A double
#define NAME i16_f64
#define TILE tile_f64
#define STORE to_f64
#include "cpu/scan_type.tmpl.h"

#define T int32_t
#define O uint64_t
#define A uint64_t
#define NAME i32_64
#define TILE tile_u64
#define STORE SAME
#include "cpu/scan_type.tmpl.h"

#define T int32_t
#define O double
#define A double
#define NAME i32_f64
#define TILE tile_f64
#define STORE to_f64
#include "cpu/scan_type.tmpl.h"

#define T float
#define O double
#define A double
#define NAME f32_f64
#define TILE tile_f64
#define STORE to_f64
#include "cpu/scan_type.tmpl.h"

#define T float
#define O float
#define A double
#define NAME f32_f32
#define TILE tile_f64
#define STORE to_f32
#include "cpu/scan_type.tmpl.h"

#define T double
#define O double
#define A double
#define NAME f64_f64
#define TILE tile_f64
#define STORE to_f64
#include "cpu/scan_type.tmpl.h"

#define T uint32_t
#define O uint32_t
#define A uint32_t
#define NAME sum32_32
#define TILE tile_u32
#define STORE SAME
#include "cpu/scan_type.tmpl.h"

#define T uint64_t
#define O uint64_t
#define A uint64_t
#define NAME sum64_64
#define TILE tile_u64
#define STORE SAME
#include "cpu/scan_type.tmpl.h"

static const twi_scan_level level = {
    .kernels =
        {
            [TW_U8] = {&kernels_u8_32, &kernels_u8_64, &kernels_u8_f64, NULL},
            [TW_U16] = {&kernels_u16_32, &kernels_u16_64, &kernels_u16_f64, NULL},
            [TW_I16] = {&kernels_i16_32, &kernels_i16_64, &kernels_i16_f64, NULL},
            [TW_I32] = {NULL, &kernels_i32_64, &kernels_i32_f64, NULL},
            [TW_F32] = {NULL, NULL, &kernels_f32_f64, &kernels_f32_f32},
            [TW_F64] = {NULL, NULL, &kernels_f64_f64, NULL},
        },
    .again = {&kernels_sum32_32, &kernels_sum64_64, &kernels_f64_f64, NULL},
    .put = put,
    .finish = finish_stream,
};

static tw_status run_scan(const tw_plan *plan, const twi_job *job)
{
    return twi_scan_run(plan, job, &level);
}

static tw_status run_integral(const tw_plan *plan, const twi_job *job)
{
    return twi_integral_run(plan, job, &level);
}
