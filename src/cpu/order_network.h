/*
 * Networks for the element of a rank in a rectangle: the exchanges that find it for a tile of outputs, made once for a
 * plan. order_network.tmpl.h runs them for a vector of tiles at once.
 */
#ifndef TWI_CPU_ORDER_NETWORK_H
#define TWI_CPU_ORDER_NETWORK_H

#include "core/plan.h"

/* A slot's place, in units of 8 bytes: what processors scale an index by. */
typedef uint16_t twi_order_slot;

/* The lower of slots a and b goes to `low`, the higher to `high`. */
typedef struct twi_order_exchange {
    twi_order_slot a;
    twi_order_slot b;
    twi_order_slot low;
    twi_order_slot high;
} twi_order_exchange;

/* An output: after so many more exchanges the lowest of max(a, b) of so many more pairs. */
typedef struct twi_order_output {
    int32_t exchanges;
    int32_t pairs;
    int32_t x; /* in the tile */
    int32_t y; /* */
} twi_order_output;

typedef struct twi_order_pair {
    twi_order_slot a;
    twi_order_slot b;
} twi_order_pair;

/* The tile's inputs are slots 0 ..., row by row. */
typedef struct twi_order_network {
    int32_t tile_width; /* outputs */
    int32_t tile_height;
    int32_t input_width;
    int32_t input_height;
    int32_t slots;
    twi_order_exchange *exchanges;
    twi_order_output *outputs;
    twi_order_pair *pairs;
} twi_order_network;

enum {
    TWI_NETWORK_POSITIONS = 65 * 65, /* of the largest windows */
    TWI_NETWORK_SLOT = 4             /* units of a slot */
};

/* The network of a rank problem of the whole rectangle, for a tile whose sides are powers of two up to the window's.
   twi_order_network_free() frees it, whatever the result. */
tw_status twi_order_network_make(const tw_context *context, const tw_problem *problem, int32_t tile_width,
                                 int32_t tile_height, twi_order_network *network);
void twi_order_network_free(const tw_context *context, twi_order_network *network);

#endif
