/* What the options say about a filter, with masks and footprints read and everything checked that needs no image. */
#ifndef TWI_RECIPE_H
#define TWI_RECIPE_H

#include "cli/args.h"

typedef struct twi_recipe {
    tw_op op;
    tw_window window; /* gaussian: sides of 0 for those of sigma */
    tw_border border;
    tw_values mask; /* correlations: the mask, or the row of sepconv; neither set for other filters */
    tw_values column;
    double divisor;
    const uint8_t *footprint; /* NULL: the whole window */
    int64_t rank;             /* median and rank */
    tw_turn turn;             /* transpose, rotate and flip; 0 for other filters */
    twi_matrix table_read;    /* lut: the numbers of --table; no values without one */
    void *memory[2];          /* what the arrays lie in */

    /* what twi_recipe_fit() adds */
    const void *table; /* lut */
    int32_t table_channels;
    int64_t out_width; /* of the result */
    int64_t out_height;
    tw_type out_type;
} twi_recipe;

/* `invent`: where --mask, --row and --col are missing, take numbers of --window's size. On failure the line has been
   printed. Free the recipe in any case. */
twi_exit twi_recipe_take(const twi_args *args, twi_command_id filter, bool invent, twi_recipe *recipe);
void twi_recipe_free(twi_recipe *recipe);

/* A recipe of its own for one image of several, to be freed before the one that was taken. */
twi_recipe twi_recipe_share(const twi_recipe *recipe);

/* Adds what depends on the image: the result's size and type (`asked`: TW_ELEMENT_COUNT for the filter's choice), and a
   table. On failure the line has been printed. */
twi_exit twi_recipe_fit(const twi_args *args, twi_command_id filter, const tw_image *src, tw_type asked,
                        twi_recipe *recipe);

/* The filter's problem for these images; its arrays are the recipe's. Not for open and what is like it. */
tw_status twi_recipe_problem(const twi_args *args, const twi_recipe *recipe, const tw_image *src, const tw_image *dst,
                             tw_problem *problem);

/* The filter whose command has that name and which is one operation; false, and the line printed, if there is none.
   `op` is the operation that it is a case of: correlate for sobel. */
bool twi_find_filter(const char *name, twi_command_id *filter, tw_op *op);

/* The index-th of them, NULL at the end. */
const char *twi_filter_name(size_t index, const void *unused);

#endif
