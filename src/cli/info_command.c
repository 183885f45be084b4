/* `tilewise info`: what there is on this machine, and why not more. */
#include <stdio.h>

#include "cli/args.h"
#include "cli/json.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static const char *const formats[] = {"png", "jpeg", "tiff", "pnm", "pfm", "npy"};
enum { FORMATS = sizeof formats / sizeof formats[0] };

/* The index-th device of a back end; false if there is none. */
static bool device_at(tw_backend backend, int index, tw_device_info *info)
{
    int count = 0;
    return tw_device_count(backend, &count) == TW_OK && index < count &&
           tw_device_describe(backend, index, info) == TW_OK;
}

static void print_info(void)
{
    tw_device_info info;
    printf("tilewise %s\nbuild    %s CUDA, with OpenMP, %s\n", tw_version(), TW_WITH_CUDA ? "with" : "without",
           COMPILER);
    if (device_at(TW_CPU, 0, &info))
        printf("cpu      %s, %s\n", info.name, info.detail);
    for (int i = 0; device_at(TW_CUDA, i, &info); i++)
        printf("cuda:%-3d %s, %s\n", i, info.name, info.detail);
    if (tw_cuda_reason()[0] != '\0')
        printf("cuda     none: %s\n", tw_cuda_reason());
    fputs("formats ", stdout);
    for (size_t i = 0; i < FORMATS; i++)
        printf(" %s", formats[i]);
    putchar('\n');
}

static json_t *json_devices(tw_backend backend)
{
    json_t *devices = json_array();
    tw_device_info info;
    for (int i = 0; device_at(backend, i, &info); i++)
        (void)json_array_append_new(devices, json_pack("{s:s, s:s}", "name", info.name, "detail", info.detail));
    return devices;
}

static json_t *json_info(void)
{
    json_t *names = json_array();
    for (size_t i = 0; i < FORMATS; i++)
        (void)json_array_append_new(names, json_string(formats[i]));
    return json_pack("{s:s, s:s, s:{s:b, s:b, s:s}, s:o, s:o, s:s, s:o}", "schema", "tilewise.info/1", "version",
                     tw_version(), "build", "cuda", TW_WITH_CUDA, "openmp", 1, "compiler", COMPILER, "cpu",
                     json_devices(TW_CPU), "cuda", json_devices(TW_CUDA), "cuda_reason", tw_cuda_reason(), "formats",
                     names);
}

twi_exit twi_command_info(const twi_args *args)
{
    if (args->json)
        return twi_print_json(json_info());
    print_info();
    return TWI_EXIT_DONE;
}
