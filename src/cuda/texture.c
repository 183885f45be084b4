/* box on CUDA, variant texture: the texture objects of the images that a plan meets (box_texture.cu). */
#include "cuda/host.h"

enum { BLOCK_WIDTH = 16, BLOCK_HEIGHT = 16 };

/* Objects are kept until the plan is destroyed: a queued kernel may still read through any of them. An image
   that finds no place, or that the hardware cannot address, is copied to the plan's scratch memory. */
enum { MOST_TEXTURES = 128 };

typedef struct textures {
    struct {
        const void *data;
        int64_t pitch;
        cudaTextureObject_t object;
    } entry[MOST_TEXTURES];
    int count;
    cudaTextureObject_t scratch; /* of the plan's scratch memory */
} textures;

static const char *refuses_texture(const tw_context *context, const tw_problem *problem)
{
    if (!context)
        return NULL;
    const int *limit = twi_cuda_state_of(context)->texture_limit;
    if (problem->width > limit[0] / problem->channels || problem->height > limit[1])
        return "the image is larger than the device's textures";
    return NULL;
}

static double cost_texture(const tw_context *context, const tw_problem *problem)
{
    const double outputs = (double)problem->width * (double)problem->height * problem->channels;
    const double positions = (double)problem->window.width * problem->window.height;
    (void)context;
    return 5000 + outputs * (0.001 + 0.001 * positions);
}

static int64_t scratch_pitch(const tw_problem *problem)
{
    return (twi_cuda_row_bytes(problem, problem->type) + 255) / 256 * 256;
}

/* Whether the texture's own addressing does the border. */
static bool hardware_border(const tw_problem *problem)
{
    return problem->border.mode == TW_BORDER_ZERO ||
           (problem->border.mode == TW_BORDER_REPLICATE && problem->channels == 1);
}

static tw_status create_texture(const tw_problem *problem, const void *data, int64_t pitch, cudaTextureObject_t *object)
{
    const int bits = 8 * (int)tw_type_size(problem->type);
    const bool is_signed = problem->type == TW_I16 || problem->type == TW_I32;
    const bool zero = problem->border.mode == TW_BORDER_ZERO;
    const enum cudaTextureAddressMode outside = zero ? cudaAddressModeBorder : cudaAddressModeClamp;
    struct cudaResourceDesc resource = {.resType = cudaResourceTypePitch2D};
    resource.res.pitch2D.devPtr = (void *)(uintptr_t)data;
    resource.res.pitch2D.desc =
        cudaCreateChannelDesc(bits, 0, 0, 0, is_signed ? cudaChannelFormatKindSigned : cudaChannelFormatKindUnsigned);
    resource.res.pitch2D.width = (size_t)(problem->width * problem->channels);
    resource.res.pitch2D.height = (size_t)problem->height;
    resource.res.pitch2D.pitchInBytes = (size_t)pitch;
    const struct cudaTextureDesc texture = {
        .addressMode = {outside, outside, outside},
        .filterMode = cudaFilterModePoint,
        .readMode = cudaReadModeElementType,
    };
    TWI_CUDA(cudaCreateTextureObject(object, &resource, &texture, NULL));
    return TW_OK;
}

/* Whether the hardware can address an image where it lies. */
static bool can_address(const tw_context *context, const tw_image *image)
{
    const twi_cuda_state *state = twi_cuda_state_of(context);
    return (uintptr_t)image->data % state->texture_alignment == 0 &&
           (uint64_t)image->pitch % state->texture_pitch_alignment == 0 && image->pitch <= state->texture_limit[2];
}

/* The texture that shows the job's source; copies it to scratch if need be. */
static tw_status find_texture(const tw_plan *plan, const twi_job *job, cudaTextureObject_t *object)
{
    const tw_problem *problem = &plan->problem;
    textures *t = plan->state;
    const bool addressable = can_address(plan->context, &job->src);
    for (int i = 0; i < t->count; i++) {
        if (t->entry[i].data == job->src.data && t->entry[i].pitch == job->src.pitch) {
            *object = t->entry[i].object;
            return TW_OK;
        }
    }
    if (addressable && t->count < MOST_TEXTURES) {
        TWI_TRY(create_texture(problem, job->src.data, job->src.pitch, object));
        t->entry[t->count].data = job->src.data;
        t->entry[t->count].pitch = job->src.pitch;
        t->entry[t->count++].object = *object;
        return TW_OK;
    }
    *object = t->scratch;
    return twi_cuda_copy_rows(plan->context, plan->scratch, scratch_pitch(problem), job->src.data, job->src.pitch,
                              twi_cuda_row_bytes(problem, problem->type), problem->height, job->stream);
}

static tw_status prepare_texture(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    const int64_t pitch = scratch_pitch(problem);
    twi_cuda_shape shape;
    int before = 0;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    TWI_TRY(twi_cuda_load_kernel(plan, twi_cuda_box_texture_kernels[problem->type], 0));
    TWI_TRY(twi_plan_scratch(plan, (size_t)(pitch * problem->height)));
    TWI_TRY(twi_host_allocate(plan->context, sizeof(textures), &plan->state));
    textures *t = plan->state;
    *t = (textures){.count = 0};
    TWI_TRY(twi_cuda_enter(plan->context, &before));
    return twi_cuda_leave(before, create_texture(problem, plan->scratch, pitch, &t->scratch));
}

static tw_status run_texture(const tw_plan *plan, const twi_job *job)
{
    twi_cuda_shape shape;
    cudaTextureObject_t object = 0;
    TWI_TRY(twi_cuda_block_shape(plan, BLOCK_WIDTH, BLOCK_HEIGHT, &shape));
    TWI_TRY(find_texture(plan, job, &object));
    twi_cuda_box_texture argument = {
        .box = twi_cuda_box_arguments(plan, job),
        .texture = object,
        .hardware = hardware_border(&plan->problem),
    };
    return twi_cuda_launch(twi_cuda_box_texture_kernels[plan->problem.type], &shape, &argument,
                           plan->problem.width * plan->problem.channels, &argument.box.left, &argument.box.first,
                           job->last, job->stream);
}

static void release_texture(tw_plan *plan)
{
    textures *t = plan->state;
    int before = 0;
    if (!t)
        return;
    const bool entered = twi_cuda_enter(plan->context, &before) == TW_OK;
    for (int i = 0; i < t->count; i++)
        (void)cudaDestroyTextureObject(t->entry[i].object);
    if (t->scratch)
        (void)cudaDestroyTextureObject(t->scratch);
    if (entered)
        (void)twi_cuda_leave(before, TW_OK);
    twi_host_release(plan->context, t);
}

const twi_code twi_box_texture_cuda = {
    .refuses = refuses_texture,
    .cost = cost_texture,
    .prepare = prepare_texture,
    .run = run_texture,
    .release = release_texture,
};
