/* Status codes, the names of all enums, and the calling thread's message. */
#include <stdarg.h>
#include <stdio.h>

#include "core/base.h"
#include "core/exact.h"

static _Thread_local char message[512];

tw_status twi_fail(tw_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return status;
}

const char *tw_error_message(void)
{
    return message;
}

#define TWI_STRING2(x) #x
#define TWI_STRING(x) TWI_STRING2(x)

const char *tw_version(void)
{
    return TWI_STRING(TW_VERSION_MAJOR) "." TWI_STRING(TW_VERSION_MINOR) "." TWI_STRING(TW_VERSION_PATCH);
}

/* The entry of a table of names, "unknown" beyond its end. */
static const char *name_of(const char *const *names, unsigned count, unsigned index)
{
    return index < count ? names[index] : "unknown";
}

const char *tw_status_name(tw_status status)
{
    static const char *const names[TW_STATUS_COUNT] = {
        [TW_OK] = "ok",
        [TW_ERROR_ARGUMENT] = "argument",
        [TW_ERROR_UNSUPPORTED] = "unsupported",
        [TW_ERROR_MEMORY] = "memory",
        [TW_ERROR_LIMIT] = "limit",
        [TW_ERROR_DEVICE] = "device",
        [TW_ERROR_CUDA] = "cuda",
        [TW_ERROR_CANCELLED] = "cancelled",
        [TW_ERROR_FILE] = "file",
    };
    return name_of(names, TW_STATUS_COUNT, (unsigned)status);
}

const char *tw_type_name(tw_type type)
{
    static const char *const names[TW_ELEMENT_COUNT] = {
        [TW_U8] = "u8",   [TW_U16] = "u16", [TW_I16] = "i16", [TW_I32] = "i32", [TW_F32] = "f32",
        [TW_F64] = "f64", [TW_U32] = "u32", [TW_I64] = "i64", [TW_U64] = "u64", [TW_STATS] = "stats",
    };
    return name_of(names, TW_ELEMENT_COUNT, (unsigned)type);
}

size_t tw_type_size(tw_type type)
{
    static const size_t sizes[TW_ELEMENT_COUNT] = {
        [TW_U8] = 1,  [TW_U16] = 2, [TW_I16] = 2, [TW_I32] = 4, [TW_F32] = 4,
        [TW_F64] = 8, [TW_U32] = 4, [TW_I64] = 8, [TW_U64] = 8, [TW_STATS] = sizeof(tw_stats),
    };
    return (unsigned)type < TW_ELEMENT_COUNT ? sizes[type] : 0;
}

_Static_assert((int)TWI_ZERO == (int)TW_BORDER_ZERO && (int)TWI_CONSTANT == (int)TW_BORDER_CONSTANT &&
                   (int)TWI_REPLICATE == (int)TW_BORDER_REPLICATE && (int)TWI_REFLECT == (int)TW_BORDER_REFLECT &&
                   (int)TWI_MIRROR == (int)TW_BORDER_MIRROR && (int)TWI_WRAP == (int)TW_BORDER_WRAP,
               "exact.h and tilewise.h number the borders alike");

const char *tw_border_name(tw_border_mode mode)
{
    static const char *const names[TW_BORDER_COUNT] = {
        [TW_BORDER_ZERO] = "zero",       [TW_BORDER_CONSTANT] = "constant", [TW_BORDER_REPLICATE] = "replicate",
        [TW_BORDER_REFLECT] = "reflect", [TW_BORDER_MIRROR] = "mirror",     [TW_BORDER_WRAP] = "wrap",
        [TW_BORDER_IGNORE] = "ignore",
    };
    return name_of(names, TW_BORDER_COUNT, (unsigned)mode);
}

const char *tw_rounding_name(tw_rounding rounding)
{
    static const char *const names[TW_ROUNDING_COUNT] = {
        [TW_ROUND_FLOOR] = "floor",
        [TW_ROUND_NEAREST] = "nearest",
    };
    return name_of(names, TW_ROUNDING_COUNT, (unsigned)rounding);
}

const char *tw_backend_name(tw_backend backend)
{
    static const char *const names[TW_BACKEND_COUNT] = {
        [TW_AUTO] = "auto",
        [TW_CPU] = "cpu",
        [TW_CUDA] = "cuda",
    };
    return name_of(names, TW_BACKEND_COUNT, (unsigned)backend);
}

_Static_assert((int)TWI_SUM == (int)TW_FIGURE_SUM && (int)TWI_MEAN == (int)TW_FIGURE_MEAN &&
                   (int)TWI_VAR == (int)TW_FIGURE_VAR && (int)TWI_STD == (int)TW_FIGURE_STD &&
                   (int)TWI_MIN == (int)TW_FIGURE_MIN && (int)TWI_MAX == (int)TW_FIGURE_MAX &&
                   (int)TWI_ARGMIN == (int)TW_FIGURE_ARGMIN && (int)TWI_ARGMAX == (int)TW_FIGURE_ARGMAX &&
                   (int)TWI_COUNT_NONZERO == (int)TW_FIGURE_COUNT_NONZERO && (int)TWI_SQUARES == (int)TW_FIGURE_SQUARES,
               "tw_figure");
_Static_assert(sizeof(twi_stats) == sizeof(tw_stats) &&
                   offsetof(twi_stats, count_nonzero) == offsetof(tw_stats, count_nonzero) &&
                   offsetof(twi_stats, argmin_x) == offsetof(tw_stats, argmin_x) &&
                   offsetof(twi_stats, var) == offsetof(tw_stats, var),
               "tw_stats");

const char *tw_op_name(tw_op op)
{
    static const char *const names[TW_OP_COUNT] = {
        [TW_OP_BOX] = "box",
        [TW_OP_CORRELATE] = "correlate",
        [TW_OP_SEPCONV] = "sepconv",
        [TW_OP_GAUSSIAN] = "gaussian",
        [TW_OP_MIN] = "min",
        [TW_OP_MAX] = "max",
        [TW_OP_RANK] = "rank",
        [TW_OP_TRANSPOSE] = "transpose",
        [TW_OP_LUT] = "lut",
        [TW_OP_REDUCE] = "reduce",
        [TW_OP_HISTOGRAM] = "histogram",
        [TW_OP_SCAN] = "scan",
        [TW_OP_INTEGRAL] = "integral",
    };
    return name_of(names, TW_OP_COUNT, (unsigned)op);
}

const char *tw_axis_name(tw_axis axis)
{
    static const char *const names[TW_AXIS_COUNT] = {[TW_AXIS_X] = "x", [TW_AXIS_Y] = "y", [TW_AXIS_ALL] = "all"};
    return name_of(names, TW_AXIS_COUNT, (unsigned)axis);
}

const char *tw_turn_name(tw_turn turn)
{
    static const char *const names[TW_TURN_COUNT] = {
        [0] = "unknown",
        [TW_TRANSPOSE] = "transpose",
        [TW_FLIP_HORIZONTAL] = "flip-horizontal",
        [TW_ROTATE_90] = "rotate-90",
        [TW_FLIP_VERTICAL] = "flip-vertical",
        [TW_ROTATE_270] = "rotate-270",
        [TW_ROTATE_180] = "rotate-180",
        [TW_TRANSVERSE] = "transverse",
    };
    return name_of(names, TW_TURN_COUNT, (unsigned)turn);
}
