/*
 * One level of min, max and rank: everything that runs, for all types. Included by order_c.c, order_avx2.c and
 * order_avx512.c, which differ in the compiler's flags and, by them, in vector.h.
 *
 * The kernels are written once, for vectors and for plain C, whose vector V is one key and whose loops compilers
 * vectorise. The border stays out of them: rows and columns outside are copied beside those inside
 * (order_lines.tmpl.h).
 */
#include "cpu/order_keys.h"
#include "cpu/order_places.h"
#include "cpu/order_vector.h"

#ifdef LEVEL_VECTOR
#define V vec
#define STEP ((int64_t)(VEC / sizeof(K)))
#define LOAD(p) v_load(p)
#define STORE(p, v) v_store(p, v)
#define PUT(p, v, stream) v_put(p, v, stream)
#define SIMD
#define VMIN JOIN(v_min, LANE)
#define VMAX JOIN(v_max, LANE)
#define SPLAT JOIN(v_splat, LANE)
#define PLUS JOIN(v_plus, LANE)
#define BELOW JOIN(v_below, LANE)
#define REACHED JOIN(v_reached, LANE)
#define KEY_F32(v) v_key_f32(v)
#define ELEMENT_F32(v) v_element_f32(v)
#else
#define V K
#define STEP 1
#define LOAD(p) (*(p))
#define STORE(p, v) (*(p) = (v))
#define PUT(p, v, stream)                                                                                              \
    do {                                                                                                               \
        (void)(stream);                                                                                                \
        *(p) = (v);                                                                                                    \
    } while (0)
#define SIMD _Pragma("omp simd")
#define KEY_F32(v) twi_key_f32((uint32_t)(v))
#define ELEMENT_F32(v) ((int32_t)twi_unkey_f32(v))
#define VMIN JOIN(lower, LINES)
#define VMAX JOIN(higher, LINES)
#define SPLAT(value) (value)
#define PLUS(a, b) ((K)((uint64_t)(a) + (uint64_t)(b)))
#define BELOW(n, a, b) ((K)((n) + ((a) < (b))))
#define REACHED(n, rank, a, b) ((n) <= (rank) ? (a) : (b))
#endif

#define INPUT(v) (v)
#define OUTPUT(v) (v)
#define IS_KEY true
#define LINES NAME

/* The kinds of keys; order_kind.tmpl.h undefines what it is given. */
#define NAME u8
#define K uint8_t
#define LANE epu8
#define LOWEST 0
#define HIGHEST UINT8_MAX
#define BIAS 0
#define DIRECT true
#define COUNTS
#include "cpu/order_kind.tmpl.h"

#define NAME u16
#define K uint16_t
#define LANE epu16
#define LOWEST 0
#define HIGHEST UINT16_MAX
#define BIAS 0
#define DIRECT true
#define COUNTS
#include "cpu/order_kind.tmpl.h"

#define NAME i16
#define K int16_t
#define LANE epi16
#define LOWEST INT16_MIN
#define HIGHEST INT16_MAX
#define BIAS (setup->type == TW_U16 ? 32768 : 0)
#define DIRECT true
#define RANKS
#define COUNTS
#include "cpu/order_kind.tmpl.h"

#define NAME i32
#define K int32_t
#define LANE epi32
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
#define BIAS 0
#define DIRECT true
#define RANKS
#define PLACES
#include "cpu/order_kind.tmpl.h"

#define NAME i64
#define K int64_t
#define LANE epi64
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#define BIAS 0
#define DIRECT false
#define RANKS
#define PLACES
#include "cpu/order_kind.tmpl.h"

#undef LINES
#undef IS_KEY
#undef OUTPUT
#undef INPUT

/* Small windows of f32 read the image in place too: elements become keys in the kernels. */
#define NAME f32
#define LINES i32
#define K int32_t
#define LANE epi32
#define INPUT(v) KEY_F32(v)
#define OUTPUT(v) ELEMENT_F32(v)
#define IS_KEY false
#define DIRECT true
#include "cpu/order_bands.tmpl.h"
#undef DIRECT
#undef IS_KEY
#undef OUTPUT
#undef INPUT
#undef LANE
#undef K
#undef LINES
#undef NAME

static void run_kind_f32(const twi_order_setup *setup, const twi_job *job, tw_op op)
{
    if (setup->method == TWI_ORDER_BANDS) {
        /* NaN stands for what border `ignore` leaves out of a minimum: it never wins against the window's middle */
        twi_order_setup bits = *setup;
        bits.type = TW_I32;
        bits.outside = (int32_t)twi_unkey_f32((int32_t)setup->outside);
        run_bands_f32(&bits, job, op);
    } else {
        run_kind_i32(setup, job, op);
    }
}

#include "cpu/order_thresholds.tmpl.h"

static void run_rank_select(const twi_order_setup *setup, const twi_job *job)
{
    if (setup->type == TW_F64)
        run_select_i64(setup, job);
    else if (setup->wide || setup->type == TW_I32 || setup->type == TW_F32)
        run_select_i32(setup, job);
    else
        run_select_i16(setup, job);
}

static void run_rank_places(const twi_order_setup *setup, const twi_job *job)
{
    if (setup->type == TW_F64)
        run_places_i64(setup, job);
    else
        run_places_i32(setup, job);
}

static void run_rank_histogram(const twi_order_setup *setup, const twi_job *job)
{
    if (setup->type == TW_U8)
        run_histogram_u8(setup, job);
    else if (setup->type == TW_U16)
        run_histogram_u16(setup, job);
    else
        run_histogram_i16(setup, job);
}

typedef void run_function(const twi_order_setup *setup, const twi_job *job, tw_op op);

static tw_status run(const tw_plan *plan, const twi_job *job)
{
    static run_function *const functions[TW_TYPE_COUNT] = {
        [TW_U8] = run_kind_u8,   [TW_U16] = run_kind_u16, [TW_I16] = run_kind_i16,
        [TW_I32] = run_kind_i32, [TW_F32] = run_kind_f32, [TW_F64] = run_kind_i64,
    };
    const twi_order_setup *setup = plan->scratch;
    if (setup->method == TWI_ORDER_THRESHOLDS)
        run_thresholds(setup, job);
    else if (setup->method == TWI_ORDER_HISTOGRAM)
        run_rank_histogram(setup, job);
    else if (setup->method == TWI_ORDER_PLACES)
        run_rank_places(setup, job);
    else if (setup->method == TWI_ORDER_SELECT)
        run_rank_select(setup, job);
    else
        functions[setup->type](setup, job, plan->problem.op);
    finish_stream(setup->stream);
    return TW_OK;
}
