/* The setters of the option table: each reads one value strictly and stores it; false if it is not legal. */
#ifndef TWI_VALUES_H
#define TWI_VALUES_H

#include "cli/args.h"

bool twi_set_radius(twi_args *args, const char *text);
bool twi_set_window(twi_args *args, const char *text);
bool twi_set_anchor(twi_args *args, const char *text);
bool twi_set_border(twi_args *args, const char *text);
bool twi_set_any_border(twi_args *args, const char *text); /* ignore, too */
bool twi_set_mask(twi_args *args, const char *text);
bool twi_set_row(twi_args *args, const char *text);
bool twi_set_column(twi_args *args, const char *text);
bool twi_set_divisor(twi_args *args, const char *text);
bool twi_set_offset(twi_args *args, const char *text);
bool twi_set_sigma(twi_args *args, const char *text);
bool twi_set_truncate(twi_args *args, const char *text);
bool twi_set_direction(twi_args *args, const char *text);
bool twi_set_flip(twi_args *args, const char *text);
bool twi_set_lines(twi_args *args, const char *text);
bool twi_set_exclusive(twi_args *args, const char *text);
bool twi_set_any_axis(twi_args *args, const char *text);
bool twi_set_figures(twi_args *args, const char *text);
bool twi_set_histogram(twi_args *args, const char *text);
bool twi_set_degrees(twi_args *args, const char *text);
bool twi_set_table(twi_args *args, const char *text);
bool twi_set_shape(twi_args *args, const char *text);
bool twi_set_footprint(twi_args *args, const char *text);
bool twi_set_iterations(twi_args *args, const char *text);
bool twi_set_rank(twi_args *args, const char *text);
bool twi_set_percentile(twi_args *args, const char *text);
bool twi_set_rounding(twi_args *args, const char *text);
bool twi_set_view(twi_args *args, const char *text);
bool twi_set_page(twi_args *args, const char *text);
bool twi_set_type(twi_args *args, const char *text);
bool twi_set_sum_type(twi_args *args, const char *text); /* of those that no image file but .npy has, too */
bool twi_set_to(twi_args *args, const char *text);
bool twi_set_image_size(twi_args *args, const char *text);
bool twi_set_channels(twi_args *args, const char *text);
bool twi_set_pitch(twi_args *args, const char *text);
bool twi_set_device(twi_args *args, const char *text);
bool twi_set_variant(twi_args *args, const char *text);
bool twi_set_variants(twi_args *args, const char *text);
bool twi_set_block(twi_args *args, const char *text);
bool twi_set_threads(twi_args *args, const char *text);
bool twi_set_memory(twi_args *args, const char *text);
bool twi_set_graph(twi_args *args, const char *text);
bool twi_set_pinned(twi_args *args, const char *text);
bool twi_set_flat(twi_args *args, const char *text);
bool twi_set_report(twi_args *args, const char *text);
bool twi_set_svg(twi_args *args, const char *text);
bool twi_set_files_from(twi_args *args, const char *text);
bool twi_set_format(twi_args *args, const char *text);
bool twi_set_resume(twi_args *args, const char *text);
bool twi_set_seed(twi_args *args, const char *text);
bool twi_set_cases(twi_args *args, const char *text);
bool twi_set_list(twi_args *args, const char *text);
bool twi_set_json(twi_args *args, const char *text);
bool twi_set_progress(twi_args *args, const char *text);
bool twi_set_quiet(twi_args *args, const char *text);
bool twi_set_man(twi_args *args, const char *text);
bool twi_set_completion(twi_args *args, const char *text);
bool twi_set_help(twi_args *args, const char *text);

#endif
