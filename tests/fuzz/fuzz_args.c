/* The command line's parser: each line of the input is an argument. Whatever it says, the parser either fills the
   parameters with values in range or has a message; nothing is run. */
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"

enum { MOST_ARGUMENTS = 64 };

static void check(const twi_args *args, twi_exit code)
{
    const tw_window *window = &args->window;
    const bool sized = !args->mask && !args->row && !args->column && !args->footprint; /* else: when those are read */
    bool sound = code == TWI_EXIT_USAGE && args->message[0] != '\0';
    if (code == TWI_EXIT_DONE)
        sound = args->command && args->message[0] == '\0' && window->width >= 1 && window->height >= 1 &&
                window->width <= TW_MAX_WINDOW && window->height <= TW_MAX_WINDOW && args->view_x >= 0 &&
                args->view_y >= 0 && args->page >= 0 && args->channels >= 1 && args->channels <= 4 &&
                args->image_width >= 1 && args->image_height >= 1 && args->threads >= 0 && args->device >= 0 &&
                args->divisor != 0 && args->sigma_x >= 0 && args->sigma_y >= 0 && args->truncate > 0 &&
                args->iterations >= 1 && args->percentile <= 100 &&
                (args->help || !sized || (window->anchor_x < window->width && window->anchor_y < window->height));
    if (!sound)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char name[] = "tilewise";
    char *argv[MOST_ARGUMENTS + 2] = {name};
    int argc = 1;
    twi_args args;
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *at = text; at && argc <= MOST_ARGUMENTS;)
        argv[argc++] = strsep(&at, "\n");
    const twi_exit code = twi_args_parse(argc, argv, &args);
    check(&args, code);
    free(text);
    return 0;
}
