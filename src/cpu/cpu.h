/*
 * The CPU back end, file by file.
 *
 *   cpu.c            the back end: memory, and runs cut into bands of rows, one a thread
 *   processor.c      what the processor is and can do
 *   subtract.c       the difference of two images
 *   rows.h, rows.c   scratch cut into areas; what rows and columns outside the image hold
 *   divide.h         exact division by multiplication
 *   vector.h         vectors of a level: AVX2 or AVX-512, by the compiler's flags; none in plain C
 *   level.h          what every level uses, with vectors or without
 *
 * Three families of operations: box (the mean), conv (correlate, sepconv, gaussian), order (min, max, rank). Each has
 *
 *   FAMILY.h, FAMILY.c                         what a plan prepares, once: the method, its scratch, its estimate
 *   FAMILY_level.tmpl.h                        everything that runs, for all types; it includes the family's templates
 *   FAMILY_c.c, FAMILY_avx2.c, FAMILY_avx512.c that template compiled for three levels; each exports its twi_code
 *
 * Beside these, conv_choice.c and conv_pairs.c choose the arithmetic of conv. A file *.tmpl.h is included several
 * times, for each level, type or kind of key: what its includer must define is said at its head.
 */
#ifndef TWI_CPU_H
#define TWI_CPU_H

#include "core/plan.h"

/* The processor's own name for itself, "CPU" where it has none. */
void twi_cpu_name(char *name, size_t size);
/* Whether its caches bring a line's neighbour in, too: Intel's do. */
bool twi_cpu_fetches_pairs(void);

/* Why a level with vectors does not run: the reason, or NULL. No level depends on the problem. */
const char *twi_cpu_refuses_avx2(const tw_context *context, const tw_problem *problem);
const char *twi_cpu_refuses_avx512(const tw_context *context, const tw_problem *problem);
const char *twi_cpu_refuses_avx512_vnni(const tw_context *context, const tw_problem *problem);
const char *twi_cpu_refuses_avx512_vbmi(const tw_context *context, const tw_problem *problem);
/* VBMI2, and what came with it: BITALG and GFNI. */
const char *twi_cpu_refuses_avx512_vbmi2(const tw_context *context, const tw_problem *problem);

/* For variants that are `whole`: calls part() from the context's threads, each for an equal share of 0 ... count-1 and
   with a number of its own below the context's threads. The result is a failure if any part has one. */
typedef tw_status twi_cpu_part(void *argument, int64_t first, int64_t last, int worker);
tw_status twi_cpu_parallel(const tw_plan *plan, int64_t count, twi_cpu_part *part, void *argument);

/* The back end's `subtract`. */
tw_status twi_cpu_subtract(tw_context *context, const tw_image *a, const tw_image *b, const tw_image *dst);

#endif
