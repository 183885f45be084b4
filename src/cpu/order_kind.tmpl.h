/*
 * All that runs for one kind of keys. The includer's, undefined at the end: NAME, K (the type), LANE (its vectors'
 * lanes), LOWEST and HIGHEST (the ends of the kind), BIAS (what lowers a key), DIRECT (elements are keys, so can be
 * read in place), RANKS (if ranks are selected among such keys), COUNTS (if they are counted), PLACES (if they are
 * sorted).
 */
#include "cpu/order_lines.tmpl.h"
#include "cpu/order_strips.tmpl.h"
#include "cpu/order_network.tmpl.h"
#include "cpu/order_bands.tmpl.h"

#define OP_NAME min
#define PICK JOIN(lower, NAME)
#define VPICK VMIN
#define LOSER HIGHEST
#include "cpu/order_extreme.tmpl.h"
#undef LOSER
#undef VPICK
#undef PICK
#undef OP_NAME

#define OP_NAME max
#define PICK JOIN(higher, NAME)
#define VPICK VMAX
#define LOSER LOWEST
#include "cpu/order_extreme.tmpl.h"
#undef LOSER
#undef VPICK
#undef PICK
#undef OP_NAME

static void JOIN(run_kind, NAME)(const twi_order_setup *setup, const twi_job *job, tw_op op)
{
    if (setup->method == TWI_ORDER_BANDS)
        JOIN(run_bands, NAME)(setup, job, op);
    else if (setup->method == TWI_ORDER_NETWORK)
        JOIN(run_strips, NAME)(setup, job, JOIN(compute_network, NAME));
    else if (setup->method == TWI_ORDER_SLIDE)
        (op == TW_OP_MAX ? JOIN(JOIN(run_slide, max), NAME) : JOIN(JOIN(run_slide, min), NAME))(setup, job);
    else if (setup->method == TWI_ORDER_GROUPS)
        (op == TW_OP_MAX ? JOIN(JOIN(run_groups, max), NAME) : JOIN(JOIN(run_groups, min), NAME))(setup, job);
    else
        (op == TW_OP_MAX ? JOIN(JOIN(run_footprint, max), NAME) : JOIN(JOIN(run_footprint, min), NAME))(setup, job);
}

#ifdef RANKS
#include "cpu/order_select.tmpl.h"
#undef RANKS
#endif

#ifdef COUNTS
#include "cpu/order_histogram.tmpl.h"
#undef COUNTS
#endif

#ifdef PLACES
#include "cpu/order_places.tmpl.h"
#undef PLACES
#endif

#undef DIRECT
#undef BIAS
#undef HIGHEST
#undef LOWEST
#undef LANE
#undef K
#undef NAME
