/* The public interface as a user meets it: mistakes get a status and a sentence, contexts and plans keep their
   promises. Linked with the shared library and the public header alone. */
#include <pthread.h>

#include "testing.h"

static tw_context *cpu_context(int threads)
{
    tw_context_options options = tw_context_defaults();
    tw_context *context = NULL;
    options.backend = TW_CPU;
    options.threads = threads;
    assert_ok(tw_context_create(&options, &context));
    return context;
}

/* ---- Names ---------------------------------------------------------------------------------- */

static void every_enum_has_its_names(void **state)
{
    (void)state;
    for (int i = 0; i < TW_STATUS_COUNT; i++)
        assert_string_not_equal(tw_status_name((tw_status)i), "unknown");
    for (int i = 0; i < TW_ELEMENT_COUNT; i++)
        assert_true(tw_type_size((tw_type)i) > 0 && strcmp(tw_type_name((tw_type)i), "unknown") != 0);
    for (int i = 0; i < TW_BORDER_COUNT; i++)
        assert_string_not_equal(tw_border_name((tw_border_mode)i), "unknown");
    for (int i = 0; i < TW_ROUNDING_COUNT; i++)
        assert_string_not_equal(tw_rounding_name((tw_rounding)i), "unknown");
    for (int i = 0; i < TW_BACKEND_COUNT; i++)
        assert_string_not_equal(tw_backend_name((tw_backend)i), "unknown");
    for (int i = 0; i < TW_OP_COUNT; i++)
        assert_string_not_equal(tw_op_name((tw_op)i), "unknown");
    for (int i = 0; i < TW_AXIS_COUNT; i++)
        assert_string_not_equal(tw_axis_name((tw_axis)i), "unknown");
    for (int i = 1; i < TW_TURN_COUNT; i++)
        assert_string_not_equal(tw_turn_name((tw_turn)i), "unknown");
    for (int i = -1; i < 1000; i += 1000) {
        const int outside = i < 0 ? -1 : 999;
        assert_string_equal(tw_status_name((tw_status)outside), "unknown");
        assert_string_equal(tw_type_name((tw_type)outside), "unknown");
        assert_int_equal(tw_type_size((tw_type)outside), 0);
        assert_string_equal(tw_border_name((tw_border_mode)outside), "unknown");
        assert_string_equal(tw_rounding_name((tw_rounding)outside), "unknown");
        assert_string_equal(tw_backend_name((tw_backend)outside), "unknown");
        assert_string_equal(tw_op_name((tw_op)outside), "unknown");
        assert_string_equal(tw_axis_name((tw_axis)outside), "unknown");
        assert_string_equal(tw_turn_name((tw_turn)outside), "unknown");
    }
    assert_string_equal(tw_version(), "0.1.0");
}

/* ---- Images ---------------------------------------------------------------------------------- */

static _Alignas(16) unsigned char bytes[4096];

static tw_image sound_image(void)
{
    const tw_image image = {bytes, 10, 8, 40, 1, TW_F32, TW_HOST};
    return image;
}

static void an_unsound_image_is_refused_with_the_reason(void **state)
{
    tw_image image = sound_image();
    (void)state;
    assert_ok(tw_image_check(&image));
    assert_refused(tw_image_check(NULL), TW_ERROR_ARGUMENT, "NULL");
#define REFUSED(field, value, status, words)                                                                           \
    do {                                                                                                               \
        image = sound_image();                                                                                         \
        image.field = value;                                                                                           \
        assert_refused(tw_image_check(&image), status, words);                                                         \
    } while (0)
    REFUSED(data, NULL, TW_ERROR_ARGUMENT, "NULL");
    REFUSED(data, bytes + 2, TW_ERROR_ARGUMENT, "aligned");
    REFUSED(width, 0, TW_ERROR_ARGUMENT, "0x8");
    REFUSED(width, -10, TW_ERROR_ARGUMENT, "-10x8");
    REFUSED(height, 0, TW_ERROR_ARGUMENT, "10x0");
    REFUSED(height, INT64_MIN, TW_ERROR_ARGUMENT, "at least 1");
    REFUSED(channels, 0, TW_ERROR_ARGUMENT, "0 channels");
    REFUSED(channels, 5, TW_ERROR_ARGUMENT, "5 channels");
    REFUSED(channels, INT32_MAX, TW_ERROR_ARGUMENT, "channels");
    REFUSED(type, TW_ELEMENT_COUNT, TW_ERROR_ARGUMENT, "type 10");
    REFUSED(type, (tw_type)-1, TW_ERROR_ARGUMENT, "type -1");
    REFUSED(memory, (tw_memory)2, TW_ERROR_ARGUMENT, "memory 2");
    REFUSED(pitch, 36, TW_ERROR_ARGUMENT, "pitch 36");
    REFUSED(pitch, 42, TW_ERROR_ARGUMENT, "multiple");
    REFUSED(pitch, -40, TW_ERROR_ARGUMENT, "pitch -40");
    REFUSED(pitch, INT64_MAX / 8 * 4, TW_ERROR_LIMIT, "63 bits");
    REFUSED(width, INT64_MAX, TW_ERROR_LIMIT, "63 bits");
#undef REFUSED
}

static void a_view_lies_inside_its_image(void **state)
{
    static const int64_t outside[][4] = {
        {-1, 0, 5, 5},        {0, -1, 5, 5},        {0, 0, 0, 5},         {0, 0, 5, 0},
        {0, 0, 11, 1},        {0, 0, 1, 9},         {6, 0, 5, 1},         {0, 4, 1, 5},
        {10, 0, 1, 1},        {0, 8, 1, 1},         {1, 0, INT64_MAX, 1}, {0, 1, 1, INT64_MAX},
        {INT64_MAX, 0, 1, 1}, {0, INT64_MAX, 1, 1}, {INT64_MIN, 0, 1, 1}, {3, 3, -1, -1},
    };
    const tw_image image = sound_image();
    tw_image view;
    (void)state;
    for (size_t i = 0; i < COUNT(outside); i++) {
        const int64_t *v = outside[i];
        assert_refused(tw_image_view(&image, v[0], v[1], v[2], v[3], &view), TW_ERROR_ARGUMENT, "inside the 10x8");
    }
    assert_refused(tw_image_view(NULL, 0, 0, 1, 1, &view), TW_ERROR_ARGUMENT, "NULL");
    assert_refused(tw_image_view(&image, 0, 0, 1, 1, NULL), TW_ERROR_ARGUMENT, "view is NULL");
    assert_ok(tw_image_view(&image, 9, 7, 1, 1, &view));
    assert_ptr_equal(view.data, bytes + 7 * 40 + 9 * 4);
    assert_true(view.width == 1 && view.height == 1 && view.pitch == 40 && view.type == TW_F32);
}

/* Descriptors alone: nothing here is read or written. */
static void more_than_2_to_the_31_pixels_are_counted_right(void **state)
{
    const int64_t side = 50000;
    unsigned char *const far = (unsigned char *)(uintptr_t)((uint64_t)1 << 40);
    const tw_image src = {far, side, side, side, 1, TW_U8, TW_HOST};
    tw_image dst = {far + side * side, side, side, side, 1, TW_U8, TW_HOST};
    tw_problem problem;
    tw_image view;
    char text[200];
    (void)state;
    assert_ok(tw_image_check(&src));
    assert_ok(tw_image_view(&src, 49999, 49999, 1, 1, &view));
    assert_true((unsigned char *)view.data - far == side * side - 1);
    assert_ok(tw_box_problem(&src, &dst, NULL, &problem));
    (void)tw_problem_text(&problem, text, sizeof text);
    assert_string_equal(text, "box u8 c1 50000x50000 s3x3 a1,1 zero floor host");
    dst.data = far + side * side - 1; /* the last byte of src is the first of dst */
    assert_refused(tw_box_problem(&src, &dst, NULL, &problem), TW_ERROR_ARGUMENT, "overlap");
    const tw_image vast = {far, INT64_C(1) << 40, INT64_C(1) << 19, INT64_C(1) << 43, 1, TW_F64, TW_HOST};
    assert_ok(tw_image_check(&vast));
    const tw_image too_vast = {far, INT64_C(1) << 40, INT64_C(1) << 20, INT64_C(1) << 43, 1, TW_F64, TW_HOST};
    assert_refused(tw_image_check(&too_vast), TW_ERROR_LIMIT, "63 bits");
    const tw_image past_the_end = {(void *)(UINTPTR_MAX - 99), 100, 1, 100, 1, TW_U8, TW_HOST};
    assert_refused(tw_image_check(&past_the_end), TW_ERROR_LIMIT, "address space");
}

static void overlap_is_told_from_views_that_only_interleave(void **state)
{
    const tw_image whole = {bytes, 60, 40, 64, 1, TW_U8, TW_HOST};
    tw_image a;
    tw_image b;
    tw_problem problem;
    (void)state;
    /* every pair of 20x10 views of one image: they overlap exactly if the rectangles meet */
    assert_ok(tw_image_view(&whole, 20, 15, 20, 10, &a));
    for (int64_t y = 0; y <= 30; y++)
        for (int64_t x = 0; x <= 40; x++) {
            const bool same = x == 20 && y == 15;
            const bool meet = x > 0 && x < 40 && y > 5 && y < 25;
            assert_ok(tw_image_view(&whole, x, y, 20, 10, &b));
            if (meet && !same) {
                assert_refused(tw_box_problem(&a, &b, NULL, &problem), TW_ERROR_ARGUMENT, "overlap");
            } else {
                assert_ok(tw_box_problem(&a, &b, NULL, &problem));
                assert_true(problem.in_place == same);
            }
        }
    a = (tw_image){bytes, 8, 8, 8, 1, TW_U8, TW_HOST}; /* other pitches over the same bytes */
    b = (tw_image){bytes + 32, 8, 8, 16, 1, TW_U8, TW_HOST};
    assert_refused(tw_box_problem(&a, &b, NULL, &problem), TW_ERROR_ARGUMENT, "overlap");
    b = (tw_image){bytes, 8, 8, 16, 1, TW_U8, TW_HOST};
    assert_refused(tw_box_problem(&a, &b, NULL, &problem), TW_ERROR_ARGUMENT, "overlap");
    b = (tw_image){bytes + 64, 8, 8, 16, 1, TW_U8, TW_HOST};
    assert_ok(tw_box_problem(&a, &b, NULL, &problem));
}

/* ---- The mean's arguments --------------------------------------------------------------------- */

static void a_wrong_argument_of_box_is_named(void **state)
{
    const tw_image src = sound_image();
    tw_image dst = sound_image();
    tw_box_params params;
    tw_context *context = cpu_context(1);
    (void)state;
    dst.data = bytes + 2048;
    assert_refused(tw_box(NULL, &src, &dst, NULL), TW_ERROR_ARGUMENT, "context is NULL");
    assert_refused(tw_box(context, NULL, &dst, NULL), TW_ERROR_ARGUMENT, "NULL");
    assert_refused(tw_box(context, &src, NULL, NULL), TW_ERROR_ARGUMENT, "NULL");
    assert_refused(tw_box_problem(&src, &dst, NULL, NULL), TW_ERROR_ARGUMENT, "problem is NULL");
#define REFUSED(field, value, words)                                                                                   \
    do {                                                                                                               \
        params = tw_box_defaults();                                                                                    \
        params.field = value;                                                                                          \
        assert_refused(tw_box(context, &src, &dst, &params), TW_ERROR_ARGUMENT, words);                                \
    } while (0)
    REFUSED(window.width, 0, "window 0x3");
    REFUSED(window.width, -1, "window -1x3");
    REFUSED(window.height, 0, "window 3x0");
    REFUSED(window.height, TW_MAX_WINDOW + 1, "1 to 65535");
    REFUSED(window.width, INT32_MAX, "window 2147483647x3");
    REFUSED(window.anchor_x, 3, "anchor 3,1");
    REFUSED(window.anchor_x, -1, "anchor -1,1");
    REFUSED(window.anchor_y, 3, "anchor 1,3");
    REFUSED(border.mode, (tw_border_mode)7, "border mode 7");
    REFUSED(border.mode, (tw_border_mode)-1, "border mode -1");
    REFUSED(rounding, (tw_rounding)2, "rounding 2");
#undef REFUSED
    dst = sound_image();
    dst.data = bytes + 2048;
    dst.width = 9;
    assert_refused(tw_box(context, &src, &dst, NULL), TW_ERROR_ARGUMENT, "dst is 9x8");
    dst = (tw_image){bytes + 2048, 10, 8, 40, 1, TW_I32, TW_HOST};
    assert_refused(tw_box(context, &src, &dst, NULL), TW_ERROR_ARGUMENT, "dst is i32, src f32");
    dst = (tw_image){bytes + 2048, 10, 8, 80, 2, TW_F32, TW_HOST};
    assert_refused(tw_box(context, &src, &dst, NULL), TW_ERROR_ARGUMENT, "2 channels");
    dst = (tw_image){bytes + 2048, 10, 8, 40, 1, TW_F32, TW_DEVICE};
    assert_refused(tw_box(context, &src, &dst, NULL), TW_ERROR_ARGUMENT, "both");
    const tw_image device_src = {bytes, 10, 8, 40, 1, TW_F32, TW_DEVICE};
    assert_refused(tw_box(context, &device_src, &dst, NULL), TW_ERROR_ARGUMENT, "CUDA context");
    tw_context_destroy(context);
}

static void a_problem_is_printed_whole_or_cut(void **state)
{
    const tw_image src = {bytes, 100, 3, 600, 3, TW_I16, TW_HOST};
    tw_box_params params = box_params(5, 2, TW_BORDER_CONSTANT);
    tw_problem problem;
    char text[200];
    char cut[10];
    (void)state;
    params.border.value = -7;
    params.rounding = TW_ROUND_NEAREST;
    assert_ok(tw_box_problem(&src, &src, &params, &problem));
    const size_t length = tw_problem_text(&problem, text, sizeof text);
    assert_string_equal(text, "box i16 c3 100x3 s5x2 a2,1 constant:-7 nearest host in-place");
    assert_int_equal(length, strlen(text));
    assert_int_equal(tw_problem_text(&problem, cut, sizeof cut), length);
    assert_string_equal(cut, "box i16 c");
    assert_int_equal(tw_problem_text(&problem, NULL, 0), length);
    assert_int_equal(tw_problem_text(NULL, text, sizeof text), 0);
    assert_string_equal(text, "");
}

/* ---- Contexts ---------------------------------------------------------------------------------- */

static void *refuse(void *user, size_t size, size_t alignment)
{
    (void)user;
    (void)size;
    (void)alignment;
    return NULL;
}

static void a_wrong_context_option_is_named(void **state)
{
    tw_context_options options;
    tw_context *context = (tw_context *)bytes;
    (void)state;
    assert_refused(tw_context_create(NULL, NULL), TW_ERROR_ARGUMENT, "context is NULL");
#define REFUSED(field, value, status, words)                                                                           \
    do {                                                                                                               \
        options = tw_context_defaults();                                                                               \
        options.backend = TW_CPU;                                                                                      \
        options.field = value;                                                                                         \
        assert_refused(tw_context_create(&options, &context), status, words);                                          \
        assert_null(context);                                                                                          \
    } while (0)
    REFUSED(backend, (tw_backend)3, TW_ERROR_ARGUMENT, "back end 3");
    REFUSED(backend, (tw_backend)-1, TW_ERROR_ARGUMENT, "back end -1");
    REFUSED(device, -1, TW_ERROR_ARGUMENT, "device -1");
    REFUSED(device, 1, TW_ERROR_DEVICE, "device 1");
    REFUSED(threads, -1, TW_ERROR_ARGUMENT, "threads -1");
    REFUSED(threads, 100000, TW_ERROR_ARGUMENT, "threads 100000");
    REFUSED(allocator.allocate, refuse, TW_ERROR_ARGUMENT, "both");
#undef REFUSED
    tw_context_destroy(NULL);
    assert_int_equal(tw_context_threads(NULL), 0);
    assert_int_equal(tw_context_backend(NULL), TW_AUTO);
}

/* Of 3 MiB, which what was freed counts for again, and what host images pass through too. */
static void device_memory_is_bounded(const tw_context_options *wanted)
{
    tw_context_options options = *wanted;
    tw_context *context = NULL;
    tw_image first;
    tw_image second;
    options.device_memory = (uint64_t)3 << 20;
    assert_ok(tw_context_create(&options, &context));
    for (int i = 0; i < 3; i++) {
        assert_ok(tw_image_create(context, 1024, 2048, 1, TW_U8, TW_MEMORY_DEVICE, &first));
        assert_refused(tw_image_create(context, 1024, 2048, 1, TW_U8, TW_MEMORY_DEVICE, &second), TW_ERROR_MEMORY,
                       "that may be taken");
        assert_ok(tw_image_create(context, 1024, 2048, 1, TW_U8, TW_MEMORY_PINNED, &second));
        tw_image_free(context, &first);
        assert_refused(tw_box(context, &second, &second, NULL), TW_ERROR_MEMORY, "that may be taken");
        tw_image_free(context, &second);
    }
    tw_context_destroy(context);
}

static void auto_works_everywhere_and_cuda_says_why_not(void **state)
{
    tw_context_options options = tw_context_defaults();
    tw_device_info info;
    tw_context *context = NULL;
    int count = -1;
    uint64_t unused = 0;
    (void)state;
    assert_ok(tw_context_create(&options, &context));
    assert_true(tw_context_backend(context) == TW_CPU || tw_context_backend(context) == TW_CUDA);
    assert_true(tw_context_threads(context) >= 1);
    tw_context_destroy(context);
    assert_ok(tw_device_count(TW_CPU, &count));
    assert_int_equal(count, 1);
    assert_ok(tw_device_describe(TW_CPU, 0, &info));
    assert_true(info.name[0] != '\0');
    assert_refused(tw_device_describe(TW_CPU, 1, &info), TW_ERROR_DEVICE, "device 1");
    assert_refused(tw_device_describe(TW_CPU, 0, NULL), TW_ERROR_ARGUMENT, "info is NULL");
    assert_refused(tw_device_count(TW_AUTO, &count), TW_ERROR_ARGUMENT, "TW_CPU or TW_CUDA");
    assert_refused(tw_device_count(TW_CPU, NULL), TW_ERROR_ARGUMENT, "NULL");
    assert_ok(tw_device_count(TW_CUDA, &count));
    assert_refused(tw_device_free_memory(count, &unused), TW_ERROR_DEVICE, "this machine has");
    assert_refused(tw_device_free_memory(0, NULL), TW_ERROR_ARGUMENT, "bytes is NULL");
    options.backend = TW_CUDA;
    if (count == 0) {
        assert_true(tw_cuda_reason()[0] != '\0');
        assert_refused(tw_context_create(&options, &context), TW_ERROR_DEVICE, "");
        assert_true(tw_error_message()[0] != '\0');
    } else {
        assert_string_equal(tw_cuda_reason(), "");
        assert_ok(tw_device_describe(TW_CUDA, 0, &info));
        assert_ok(tw_device_free_memory(0, &unused));
        assert_true(unused > 0);
        device_memory_is_bounded(&options);
        options.device = count;
        assert_refused(tw_context_create(&options, &context), TW_ERROR_DEVICE, "");
    }
}

static void created_images_are_sound_and_wrong_ones_refused(void **state)
{
    tw_context *context = cpu_context(1);
    tw_image image;
    (void)state;
    for (tw_type type = TW_U8; type < TW_TYPE_COUNT; type++) {
        assert_ok(tw_image_create(context, 37, 5, 3, type, TW_MEMORY_PINNED, &image));
        assert_ok(tw_image_check(&image));
        assert_true((uintptr_t)image.data % 256 == 0 && image.pitch % 256 == 0);
        tw_image_free(context, &image);
        assert_null(image.data);
    }
    tw_image_free(context, &image); /* again: nothing to free */
    tw_image_free(context, NULL);
    assert_refused(tw_image_create(NULL, 1, 1, 1, TW_U8, TW_MEMORY_HOST, &image), TW_ERROR_ARGUMENT, "context");
    assert_refused(tw_image_create(context, 1, 1, 1, TW_U8, TW_MEMORY_HOST, NULL), TW_ERROR_ARGUMENT, "image");
    assert_refused(tw_image_create(context, 0, 1, 1, TW_U8, TW_MEMORY_HOST, &image), TW_ERROR_ARGUMENT, "0x1");
    assert_refused(tw_image_create(context, 1, -1, 1, TW_U8, TW_MEMORY_HOST, &image), TW_ERROR_ARGUMENT, "1x-1");
    assert_refused(tw_image_create(context, 1, 1, 9, TW_U8, TW_MEMORY_HOST, &image), TW_ERROR_ARGUMENT, "9 channels");
    assert_refused(tw_image_create(context, 1, 1, 1, (tw_type)77, TW_MEMORY_HOST, &image), TW_ERROR_ARGUMENT, "77");
    assert_refused(tw_image_create(context, 1, 1, 1, TW_U8, (tw_memory_kind)3, &image), TW_ERROR_ARGUMENT, "kind 3");
    assert_refused(tw_image_create(context, 1, 1, 1, TW_U8, TW_MEMORY_DEVICE, &image), TW_ERROR_ARGUMENT, "CUDA");
    assert_refused(tw_image_create(context, INT64_MAX, 1, 1, TW_F64, TW_MEMORY_HOST, &image), TW_ERROR_LIMIT, "row");
    assert_refused(tw_image_create(context, INT64_MAX / 16, 1000, 1, TW_F64, TW_MEMORY_HOST, &image), TW_ERROR_LIMIT,
                   "bytes");
    assert_refused(tw_image_create(context, INT64_C(1) << 30, INT64_C(1) << 30, 1, TW_U8, TW_MEMORY_HOST, &image),
                   TW_ERROR_MEMORY, "memory");
    assert_null(image.data);
    tw_context_destroy(context);
}

static void a_copy_wants_images_that_agree(void **state)
{
    tw_context *context = cpu_context(2);
    picture a = make_picture(33, 9, 2, TW_I16, 6);
    picture b = make_picture(33, 9, 2, TW_I16, 10);
    tw_image other = b.image;
    (void)state;
    fill_random(&a.image, 1);
    assert_ok(tw_image_copy(context, &a.image, &b.image));
    assert_true(same_pixels(&a.image, &b.image) && guards_hold(&b));
    assert_ok(tw_image_copy(context, &a.image, &a.image));
    other.type = TW_U16;
    assert_refused(tw_image_copy(context, &a.image, &other), TW_ERROR_ARGUMENT, "dst is u16, src i16");
    other = a.image;
    other.data = element(&a.image, 0, 1, 0);
    other.height--;
    assert_refused(tw_image_copy(context, &a.image, &other), TW_ERROR_ARGUMENT, "33x8");
    other = b.image;
    other.memory = TW_DEVICE;
    assert_refused(tw_image_copy(context, &a.image, &other), TW_ERROR_ARGUMENT, "CUDA context");
    assert_refused(tw_image_copy(NULL, &a.image, &b.image), TW_ERROR_ARGUMENT, "context is NULL");
    assert_refused(tw_image_copy(context, NULL, &b.image), TW_ERROR_ARGUMENT, "NULL");
    assert_refused(tw_image_copy(context, &a.image, NULL), TW_ERROR_ARGUMENT, "NULL");
    free_picture(&a);
    free_picture(&b);
    tw_context_destroy(context);
}

static void *one_context_a_thread(void *argument)
{
    const unsigned seed = *(const unsigned *)argument;
    picture src = make_picture(160, 90, 1, TW_U8, 0);
    picture dst = make_picture(160, 90, 1, TW_U8, 0);
    picture expected = make_picture(160, 90, 1, TW_U8, 0);
    tw_context *context = NULL;
    bool right = tw_context_create(NULL, &context) == TW_OK;
    fill_random(&src.image, seed);
    right = right && tw_box(context, &src.image, &expected.image, NULL) == TW_OK;
    for (int i = 0; right && i < 50; i++) {
        /* a failure here is this thread's alone */
        right = tw_box(NULL, NULL, NULL, NULL) == TW_ERROR_ARGUMENT && strstr(tw_error_message(), "context is NULL") &&
                tw_box(context, &src.image, &dst.image, NULL) == TW_OK && same_pixels(&dst.image, &expected.image);
    }
    tw_context_destroy(context);
    free_picture(&src);
    free_picture(&dst);
    free_picture(&expected);
    return right ? argument : NULL;
}

static void contexts_are_independent(void **state)
{
    pthread_t threads[4];
    unsigned seeds[4] = {1, 2, 3, 4};
    (void)state;
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, one_context_a_thread, &seeds[i]), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, &seeds[i]);
    }
}

static void refused_threads_are_an_error(void **state)
{
    tw_context_options options = tw_context_defaults();
    tw_context *context = NULL;
    pthread_attr_t ordinary;
    pthread_attr_t huge;
    (void)state;
    options.backend = TW_CPU;
    options.threads = 3;
    assert_int_equal(pthread_getattr_default_np(&ordinary), 0);
    assert_int_equal(pthread_attr_init(&huge), 0);
    assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 47), 0); /* more than there are addresses */
    assert_int_equal(pthread_setattr_default_np(&huge), 0);
    assert_refused(tw_context_create(&options, &context), TW_ERROR_MEMORY, "threads 3: the system allows 1");
    assert_null(context);
    options.threads = 1;
    assert_ok(tw_context_create(&options, &context));
    tw_context_destroy(context);
    assert_int_equal(pthread_setattr_default_np(&ordinary), 0);
    (void)pthread_attr_destroy(&ordinary);
    (void)pthread_attr_destroy(&huge);
}

static void a_footprint_that_is_too_large_is_refused_unread(void **state)
{
    static const uint8_t footprint[1] = {1};
    picture image = make_picture(2, 2, 1, TW_U8, 0);
    const tw_order_params params = {tw_window_centred(INT32_MAX, INT32_MAX), footprint, {TW_BORDER_REPLICATE, 0}};
    tw_context *context = NULL;
    (void)state;
    assert_ok(tw_context_create(NULL, &context));
    assert_int_equal(tw_order_count(&params), 0);
    assert_refused(tw_median(context, &image.image, &image.image, &params), TW_ERROR_ARGUMENT, "1 to 1023");
    tw_context_destroy(context);
    free_picture(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_enum_has_its_names),
        cmocka_unit_test(an_unsound_image_is_refused_with_the_reason),
        cmocka_unit_test(a_view_lies_inside_its_image),
        cmocka_unit_test(more_than_2_to_the_31_pixels_are_counted_right),
        cmocka_unit_test(overlap_is_told_from_views_that_only_interleave),
        cmocka_unit_test(a_wrong_argument_of_box_is_named),
        cmocka_unit_test(a_problem_is_printed_whole_or_cut),
        cmocka_unit_test(a_wrong_context_option_is_named),
        cmocka_unit_test(auto_works_everywhere_and_cuda_says_why_not),
        cmocka_unit_test(created_images_are_sound_and_wrong_ones_refused),
        cmocka_unit_test(a_copy_wants_images_that_agree),
        cmocka_unit_test(contexts_are_independent),
        cmocka_unit_test(refused_threads_are_an_error),
        cmocka_unit_test(a_footprint_that_is_too_large_is_refused_unread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
