/* The texture objects of the images that a plan meets, for the variants called texture (texture.cuh). */
#include "cuda/host.h"

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

const char *twi_cuda_refuses_texture(const tw_context *context, const tw_problem *problem)
{
    if (!context)
        return NULL;
    const int *limit = twi_cuda_state_of(context)->texture_limit;
    if (problem->width > limit[0] / problem->channels || problem->height > limit[1])
        return "the image is larger than the device's textures";
    return NULL;
}

static int64_t scratch_pitch(const tw_problem *problem)
{
    return twi_round_up(twi_cuda_row_bytes(problem, problem->type), 256);
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

tw_status twi_cuda_find_texture(const tw_plan *plan, const twi_job *job, twi_cuda_texture *texture)
{
    const tw_problem *problem = &plan->problem;
    textures *t = plan->state;
    texture->hardware = hardware_border(problem);
    for (int i = 0; i < t->count; i++) {
        if (t->entry[i].data == job->src.data && t->entry[i].pitch == job->src.pitch) {
            texture->object = t->entry[i].object;
            return TW_OK;
        }
    }
    if (can_address(plan->context, &job->src) && t->count < MOST_TEXTURES) {
        cudaTextureObject_t object = 0;
        TWI_TRY(create_texture(problem, job->src.data, job->src.pitch, &object));
        t->entry[t->count].data = job->src.data;
        t->entry[t->count].pitch = job->src.pitch;
        t->entry[t->count++].object = object;
        texture->object = object;
        return TW_OK;
    }
    texture->object = t->scratch;
    return twi_cuda_copy_rows(plan->context, plan->scratch, scratch_pitch(problem), job->src.data, job->src.pitch,
                              twi_cuda_row_bytes(problem, problem->type), problem->height, job->stream);
}

tw_status twi_cuda_prepare_texture(tw_plan *plan)
{
    const tw_problem *problem = &plan->problem;
    const int64_t pitch = scratch_pitch(problem);
    int before = 0;
    TWI_TRY(twi_plan_scratch(plan, (size_t)(pitch * problem->height)));
    TWI_TRY(twi_host_allocate(plan->context, sizeof(textures), &plan->state));
    textures *t = plan->state;
    *t = (textures){.count = 0};
    TWI_TRY(twi_cuda_enter(plan->context, &before));
    return twi_cuda_leave(before, create_texture(problem, plan->scratch, pitch, &t->scratch));
}

void twi_cuda_release_texture(tw_plan *plan)
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
