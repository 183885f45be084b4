/* What the processor is and can do, and the reasons why levels are refused. */
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "cpu/cpu.h"

void twi_cpu_name(char *name, size_t size)
{
    char brand[49] = "";
#if defined(__x86_64__)
    for (unsigned i = 0; i < 3; i++) { /* 16 characters each */
        unsigned registers[4] = {0};
        if (__get_cpuid(0x80000002u + i, &registers[0], &registers[1], &registers[2], &registers[3]))
            memcpy(brand + 16 * i, registers, sizeof registers);
    }
#endif
    const char *begin = brand + strspn(brand, " ");
    (void)snprintf(name, size, "%s", begin[0] != '\0' ? begin : "CPU");
}

bool twi_cpu_fetches_pairs(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_is("intel");
#else
    return false;
#endif
}

const char *twi_cpu_refuses_avx2(const tw_context *context, const tw_problem *problem)
{
    (void)problem;
    if (!context)
        return NULL; /* only the problem is asked */
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return NULL;
#endif
    return "this processor has no AVX2";
}

const char *twi_cpu_refuses_avx512(const tw_context *context, const tw_problem *problem)
{
    (void)problem;
    if (!context)
        return NULL;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma"))
        return NULL;
#endif
    return "this processor has no AVX-512 (F, BW, VL and DQ)";
}

const char *twi_cpu_refuses_avx512_vnni(const tw_context *context, const tw_problem *problem)
{
    const char *reason = twi_cpu_refuses_avx512(context, problem);
#if defined(__x86_64__)
    if (context && !reason && !__builtin_cpu_supports("avx512vnni"))
        return "this processor has no AVX-512 VNNI";
#endif
    return reason;
}

const char *twi_cpu_refuses_avx512_vbmi(const tw_context *context, const tw_problem *problem)
{
    const char *reason = twi_cpu_refuses_avx512(context, problem);
#if defined(__x86_64__)
    if (context && !reason && !__builtin_cpu_supports("avx512vbmi"))
        return "this processor has no AVX-512 VBMI";
#endif
    return reason;
}

const char *twi_cpu_refuses_avx512_vbmi2(const tw_context *context, const tw_problem *problem)
{
    const char *reason = twi_cpu_refuses_avx512_vbmi(context, problem);
#if defined(__x86_64__)
    if (context && !reason &&
        !(__builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bitalg") &&
          __builtin_cpu_supports("gfni")))
        return "this processor has no AVX-512 VBMI2, BITALG and GFNI";
#endif
    return reason;
}
