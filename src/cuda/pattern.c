/* The addresses of kernels whose threads make one output each: element.cuh, as the calculator follows it. */
#include "core/exact.h"
#include "cuda/host.h"
#include "cuda/pattern.h"

static int32_t size_of(const tw_problem *problem)
{
    return (int32_t)tw_type_size(problem->type);
}

static int64_t positions(const tw_problem *problem)
{
    return (int64_t)problem->window.width * problem->window.height;
}

/* ---- Outputs -------------------------------------------------------------------------------------- */

typedef struct output {
    int64_t element;
    int64_t y;
    int64_t left; /* the pixel and row of the window's first position */
    int64_t top;
    int64_t channel;
    bool exists;
} output;

static output output_of(const twi_kernel *kernel, const twi_visit *visit)
{
    const tw_problem *problem = kernel->problem;
    output out = {
        .element = visit->block_x * kernel->block_width + visit->x,
        .y = visit->block_y * kernel->block_height + visit->y,
    };
    const int64_t pixel = out.element / problem->channels;
    out.channel = out.element % problem->channels;
    out.left = pixel - problem->window.anchor_x;
    out.top = out.y - problem->window.anchor_y;
    out.exists = out.element < kernel->columns && out.y < kernel->rows;
    return out;
}

/* Whether the thread has an output, and takes the access's path to it. */
static bool takes_part(const twi_kernel *kernel, const twi_visit *visit, const output *out)
{
    const tw_problem *problem = kernel->problem;
    const bool inside = out->left >= 0 && out->top >= 0 && out->left + problem->window.width <= problem->width &&
                        out->top + problem->window.height <= problem->height;
    return out->exists && (visit->path == TWI_PATH_ANY || inside == (visit->path == TWI_PATH_INSIDE));
}

static bool in_footprint(const tw_problem *problem, int64_t position)
{
    return !problem->footprint || problem->footprint[position];
}

static int64_t address_of_output(const twi_kernel *kernel, const twi_visit *visit)
{
    const output out = output_of(kernel, visit);
    if (!takes_part(kernel, visit, &out))
        return TWI_NO_ADDRESS;
    return out.y * kernel->dst_pitch + out.element * (int64_t)tw_type_size(kernel->problem->out_type);
}

void twi_cuda_declare_blocks(twi_kernel *kernel, int32_t width, int32_t height)
{
    if (kernel->block_width == 0) {
        kernel->block_width = width;
        kernel->block_height = height;
    }
    kernel->outputs_width = kernel->block_width;
    kernel->outputs_height = kernel->block_height;
    kernel->columns = kernel->problem->width * kernel->problem->channels;
    kernel->rows = kernel->problem->height;
}

/* On one path, or on two. */
static void declare(twi_kernel *kernel, twi_access access, bool paths)
{
    access.path = paths ? TWI_PATH_INSIDE : TWI_PATH_ANY;
    twi_declare(kernel, access);
    access.path = TWI_PATH_OUTSIDE;
    if (paths)
        twi_declare(kernel, access);
}

void twi_cuda_declare_output(twi_kernel *kernel, bool paths)
{
    const twi_access access = {
        .what = "output",
        .space = TWI_SPACE_GLOBAL,
        .store = true,
        .bytes = (int32_t)tw_type_size(kernel->problem->out_type),
        .steps = 1,
        .address = address_of_output,
    };
    declare(kernel, access, paths);
}

/* ---- Windows in global memory, or through a texture ------------------------------------------------ */

/* Element (x, y) of the source by the border's rule, x a pixel. */
static int64_t address_in_source(const twi_kernel *kernel, int64_t x, int64_t y, int64_t channel)
{
    const tw_problem *problem = kernel->problem;
    const int64_t column = twi_border_index(x, problem->width, (int)problem->border.mode);
    const int64_t row = twi_border_index(y, problem->height, (int)problem->border.mode);
    if (column < 0 || row < 0)
        return TWI_NO_ADDRESS;
    return row * kernel->src_pitch + (column * problem->channels + channel) * size_of(problem);
}

static int64_t address_in_window(const twi_kernel *kernel, const twi_visit *visit)
{
    const tw_problem *problem = kernel->problem;
    const output out = output_of(kernel, visit);
    const int64_t position = visit->step % positions(problem);
    if (!takes_part(kernel, visit, &out) || !in_footprint(problem, position))
        return TWI_NO_ADDRESS;
    return address_in_source(kernel, out.left + position % problem->window.width,
                             out.top + position / problem->window.width, out.channel);
}

/* The texture's own addressing does the zero border: it is asked for positions outside, too, and fetches the nearest.
 */
static int64_t address_in_texture(const twi_kernel *kernel, const twi_visit *visit)
{
    const tw_problem *problem = kernel->problem;
    const output out = output_of(kernel, visit);
    const int64_t x = out.left + visit->step % problem->window.width;
    const int64_t y = out.top + visit->step / problem->window.width;
    if (problem->border.mode != TW_BORDER_ZERO || !out.exists)
        return address_in_window(kernel, visit);
    return address_in_source(kernel, twi_border_index(x, problem->width, TWI_REPLICATE),
                             twi_border_index(y, problem->height, TWI_REPLICATE), out.channel);
}

static int64_t address_of_value_1(const twi_kernel *kernel, const twi_visit *visit)
{
    const output out = output_of(kernel, visit);
    return takes_part(kernel, visit, &out) ? visit->step % positions(kernel->problem) : TWI_NO_ADDRESS;
}

static int64_t address_of_value_4(const twi_kernel *kernel, const twi_visit *visit)
{
    const int64_t position = address_of_value_1(kernel, visit);
    return position < 0 ? position : 4 * position;
}

static int64_t address_of_value_8(const twi_kernel *kernel, const twi_visit *visit)
{
    const int64_t position = address_of_value_1(kernel, visit);
    return position < 0 ? position : 8 * position;
}

void twi_cuda_declare_window(twi_kernel *kernel)
{
    const twi_access access = {
        .what = "source",
        .space = TWI_SPACE_GLOBAL,
        .bytes = size_of(kernel->problem),
        .steps = positions(kernel->problem),
        .address = address_in_window,
    };
    declare(kernel, access, true);
}

void twi_cuda_declare_texture(twi_kernel *kernel)
{
    const twi_access access = {
        .what = "source",
        .space = TWI_SPACE_TEXTURE,
        .bytes = size_of(kernel->problem),
        .steps = positions(kernel->problem),
        .address = address_in_texture,
    };
    twi_declare(kernel, access);
}

void twi_cuda_declare_values(twi_kernel *kernel, const char *what, twi_space space, int32_t bytes, bool paths)
{
    const twi_access access = {
        .what = what,
        .space = space,
        .bytes = bytes,
        .steps = positions(kernel->problem),
        .address = bytes == 8   ? address_of_value_8
                   : bytes == 4 ? address_of_value_4
                                : address_of_value_1,
    };
    declare(kernel, access, paths);
}

/* ---- Tiles ---------------------------------------------------------------------------------------- */

static int64_t tile_width(const twi_kernel *kernel)
{
    const tw_problem *problem = kernel->problem;
    return kernel->block_width + (problem->window.width - 1) * (int64_t)problem->channels;
}

static int64_t tile_height(const twi_kernel *kernel)
{
    return kernel->block_height + kernel->problem->window.height - 1;
}

static int64_t threads_of(const twi_kernel *kernel)
{
    return (int64_t)kernel->block_width * kernel->block_height;
}

/* The position of the tile that the thread fills at this step, or TWI_NO_ADDRESS. */
static int64_t filled(const twi_kernel *kernel, const twi_visit *visit)
{
    const int64_t thread = (int64_t)visit->y * kernel->block_width + visit->x;
    const int64_t at = thread + visit->step * threads_of(kernel);
    return at < tile_width(kernel) * tile_height(kernel) ? at : TWI_NO_ADDRESS;
}

static int64_t address_of_fill(const twi_kernel *kernel, const twi_visit *visit)
{
    const tw_problem *problem = kernel->problem;
    const int64_t at = filled(kernel, visit);
    if (at < 0)
        return at;
    /* from the tile's first pixel on, which may lie left of the image */
    const int64_t element = visit->block_x * kernel->block_width + at % tile_width(kernel);
    const int64_t y = visit->block_y * kernel->block_height - problem->window.anchor_y + at / tile_width(kernel);
    return address_in_source(kernel, element / problem->channels - problem->window.anchor_x, y,
                             element % problem->channels);
}

static int64_t address_of_filled(const twi_kernel *kernel, const twi_visit *visit)
{
    const int64_t at = filled(kernel, visit);
    return at < 0 ? at : at * size_of(kernel->problem);
}

static int64_t address_in_tile(const twi_kernel *kernel, const twi_visit *visit)
{
    const tw_problem *problem = kernel->problem;
    const output out = output_of(kernel, visit);
    const int64_t i = visit->step % problem->window.width;
    const int64_t j = visit->step / problem->window.width;
    if (!out.exists || !in_footprint(problem, visit->step))
        return TWI_NO_ADDRESS;
    return ((visit->y + j) * tile_width(kernel) + visit->x + i * problem->channels) * size_of(problem);
}

void twi_cuda_declare_tile(twi_kernel *kernel)
{
    const int64_t elements = tile_width(kernel) * tile_height(kernel);
    twi_access access = {
        .what = "source",
        .space = TWI_SPACE_GLOBAL,
        .bytes = size_of(kernel->problem),
        .steps = (elements + threads_of(kernel) - 1) / threads_of(kernel),
        .address = address_of_fill,
    };
    twi_declare(kernel, access);
    access.what = "tile";
    access.space = TWI_SPACE_SHARED;
    access.store = true;
    access.address = address_of_filled;
    twi_declare(kernel, access);
    access.store = false;
    access.steps = positions(kernel->problem);
    access.address = address_in_tile;
    twi_declare(kernel, access);
    kernel->dynamic = twi_cuda_tile_bytes(kernel->problem, kernel->block_width, kernel->block_height);
    kernel->shared = kernel->dynamic;
    kernel->barriers = 1;
}
