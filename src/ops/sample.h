/* What a window position reads, and the walk over all elements: shared by the scalar references. */
#ifndef TWI_SAMPLE_H
#define TWI_SAMPLE_H

#include "core/element.h"
#include "core/plan.h"

typedef struct twi_sampler {
    const tw_image *image;
    tw_border border;
    int channel;
} twi_sampler;

/* The address of the element at (x, y), or NULL where the border's value is read. */
static inline const void *twi_sample(const twi_sampler *s, int64_t x, int64_t y)
{
    const tw_image *image = s->image;
    const int64_t column = twi_border_index(x, image->width, (int)s->border.mode);
    const int64_t row = twi_border_index(y, image->height, (int)s->border.mode);
    if (column < 0 || row < 0)
        return NULL;
    return (const char *)image->data + row * image->pitch +
           (column * image->channels + s->channel) * (int64_t)tw_type_size(image->type);
}

/* An element of an integer type; the border's value for NULL. */
static inline int64_t twi_sample_integer(const twi_sampler *s, int64_t x, int64_t y)
{
    const void *element = twi_sample(s, x, y);
    if (!element)
        return s->border.mode == TW_BORDER_CONSTANT ? (int64_t)s->border.value : 0;
    return twi_get_integer(element, s->image->type);
}

/* An element of any type as f64, which holds them all. */
static inline double twi_sample_float(const twi_sampler *s, int64_t x, int64_t y)
{
    const tw_type type = s->image->type;
    if (type != TW_F32 && type != TW_F64)
        return (double)twi_sample_integer(s, x, y);
    const void *element = twi_sample(s, x, y);
    if (!element) {
        const double value = s->border.mode == TW_BORDER_CONSTANT ? s->border.value : 0;
        return type == TW_F32 ? (double)(float)value : value;
    }
    return type == TW_F32 ? (double)*(const float *)element : *(const double *)element;
}

/* Runs `pixel` for every element of the job's rows. */
typedef void (*twi_pixel)(const tw_plan *plan, const twi_sampler *s, int64_t x, int64_t y, void *element);

static inline tw_status twi_each_element(const tw_plan *plan, const twi_job *job, twi_pixel pixel)
{
    const tw_problem *problem = &plan->problem;
    const int64_t size = (int64_t)tw_type_size(problem->out_type);
    for (int64_t y = job->first; y < job->last; y++) {
        char *row = (char *)job->dst.data + y * job->dst.pitch;
        for (int64_t x = 0; x < problem->width; x++) {
            for (int channel = 0; channel < problem->channels; channel++) {
                const twi_sampler s = {&job->src, problem->border, channel};
                pixel(plan, &s, x, y, row + (x * problem->channels + channel) * size);
            }
        }
    }
    return TW_OK;
}

/* References are never the fastest: chosen by name, or where nothing else applies. */
static inline double twi_cost_reference(const tw_context *context, const tw_problem *problem)
{
    (void)context;
    return 10.0 * (double)problem->width * (double)problem->height * problem->channels * problem->window.width *
           problem->window.height;
}

#endif
