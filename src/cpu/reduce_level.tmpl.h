/* reduce for one level: the kernels of all types, and run(). */
#include "core/exact.h"
#include "cpu/level.h"
#include "cpu/reduce.h"

INLINE int32_t key_of_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return twi_key_f32(bits);
}

INLINE int64_t key_of_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return twi_key_f64(bits);
}

INLINE int64_t wide_key_f32(int32_t key)
{
    const uint32_t bits = twi_unkey_f32(key);
    float value;
    memcpy(&value, &bits, sizeof value);
    return key_of_f64((double)value);
}

#if defined(__AVX512BW__)
/* Eight lanes of a leaf: all of them are sixteen registers. */
#define LANE_REGISTERS
typedef double eight_lanes __attribute__((vector_size(64)));
enum { EIGHTS = TWI_LANES / 8 };
#endif

#define SAME(value) (value)
#define FROM_INTEGER(key) key_of_f64((double)(key))

#define T uint8_t
#define NAME u8
#define NARROW uint16_t
#define RUN 256
#define KEY uint8_t
#define KEY_OF SAME
#define WIDE_KEY FROM_INTEGER
#include "cpu/reduce_type.tmpl.h"

#define T uint16_t
#define NAME u16
#define NARROW uint32_t
#define RUN 65536
#define KEY uint16_t
#define KEY_OF SAME
#define WIDE_KEY FROM_INTEGER
#include "cpu/reduce_type.tmpl.h"

#define T int16_t
#define NAME i16
#define NARROW int32_t
#define RUN 65535
#define KEY int16_t
#define KEY_OF SAME
#define WIDE_KEY FROM_INTEGER
#include "cpu/reduce_type.tmpl.h"

#define T int32_t
#define NAME i32
#define NARROW int64_t
#define RUN INT32_MAX
#define KEY int32_t
#define KEY_OF SAME
#define WIDE_KEY FROM_INTEGER
#include "cpu/reduce_type.tmpl.h"

#define T float
#define NAME f32
#define KEY int32_t
#define KEY_OF key_of_f32
#define WIDE_KEY wide_key_f32
#include "cpu/reduce_type.tmpl.h"

#define T double
#define NAME f64
#define KEY int64_t
#define KEY_OF key_of_f64
#define WIDE_KEY SAME
#include "cpu/reduce_type.tmpl.h"

static tw_status run(const tw_plan *plan, const twi_job *job)
{
    static const twi_reduce_kernels *const kernels[TW_TYPE_COUNT] = {
        [TW_U8] = &kernels_u8,   [TW_U16] = &kernels_u16, [TW_I16] = &kernels_i16,
        [TW_I32] = &kernels_i32, [TW_F32] = &kernels_f32, [TW_F64] = &kernels_f64,
    };
    return twi_reduce_run(plan, job, kernels[plan->problem.type]);
}
