/* Plots against the image's size, drawn by gnuplot as SVG that a page holds. */
#ifndef TWI_PLOT_H
#define TWI_PLOT_H

#include <stdio.h>

#include "cli/cli.h"
#include "verify/bench.h"

enum { TWI_MOST_SIZES = 8 };

/* One line of a plot: a point, with its least and most, at each size; a count of 0 is a size without one. */
typedef struct twi_series {
    const char *name;
    int colour;  /* a number from 0 on; the same number is the same colour in all plots */
    bool dashed; /* what the others are compared with */
    twi_spread points[TWI_MOST_SIZES];
} twi_series;

typedef struct twi_plot {
    const char *name;                        /* a word */
    const char *label;                       /* of the upright axis, with its unit */
    bool logarithmic;                        /* the upright axis; the other one always is */
    const tw_problem *sizes[TWI_MOST_SIZES]; /* the images, the smallest first */
    size_t count;                            /* of sizes */
    const twi_series *series;
    size_t series_count;
} twi_plot;

/* Whether gnuplot is there; if not, the line has been printed. */
twi_exit twi_plot_ready(void);

/* Writes the plot as an <svg> element. Its ink is the text's colour, so that it suits light and dark pages. `first`: of
   a page, whose later plots use the marks that the first one defines. On failure the line has been printed. */
twi_exit twi_plot_draw(const twi_plot *plot, bool first, FILE *page);

#endif
