/* The two tables of the command line, and the parser that walks them. */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/args.h"
#include "cli/values.h"

/* ---- Commands ------------------------------------------------------------------------------------ */

const twi_command twi_commands[TWI_COMMAND_COUNT] = {
    [TWI_BOX] =
        {
            "box",
            "INPUT OUTPUT",
            2,
            2,
            TWI_OPERAND_FILE,
            "mean over a window",
            "Replaces each pixel by the mean of the window around it: 3x3 unless --radius or --size says otherwise. "
            "Each channel is filtered by itself, and the result has the input's type. Integer sums are exact and "
            "always divided by the whole window, at the border too.",
            {"tilewise box photo.png blurred.png", "tilewise box -r 7 --border mirror photo.jpg blurred.tif",
             "tilewise box --size 5x1 - - < in.png > out.png"},
            twi_command_box,
        },
    [TWI_VERIFY] =
        {
            "verify",
            "[OP]",
            0,
            1,
            TWI_OPERAND_OP,
            "compare every variant with the reference",
            "Runs every variant of the operation (of all operations if none is named) on this machine's devices and "
            "compares it, byte for byte, with the scalar reference: first on the classic cases, then on random ones. "
            "Prints one line a case. Exit code 1 if a variant differs, with the first wrong pixel.",
            {"tilewise verify box", "tilewise verify box --device cuda --variant direct,tiled"},
            twi_command_verify,
        },
    [TWI_BENCH] =
        {
            "bench",
            "OP",
            1,
            1,
            TWI_OPERAND_OP,
            "time the variants against a plain copy",
            "Times every variant that can do the problem and agrees with the reference, and a plain copy of the same "
            "images in the same run. The text says what each figure includes and leaves out.",
            {"tilewise bench box --size 16384x16384",
             "tilewise bench box --size 1003x769 --graph --variant tiled,direct"},
            twi_command_bench,
        },
    [TWI_EXPLAIN] =
        {
            "explain",
            "OP",
            1,
            1,
            TWI_OPERAND_OP,
            "list an operation's variants",
            "With --list, prints each variant of the operation, the back end it runs on, what it is, and whether it "
            "can do the problem that the other options describe on this machine; if not, why.",
            {"tilewise explain --list box", "tilewise explain --list box --dtype f32 --window 31x31"},
            twi_command_explain,
        },
    [TWI_INFO] =
        {
            "info",
            "",
            0,
            0,
            TWI_OPERAND_NONE,
            "what this build and this machine can do",
            "Prints the version, how the program was built, the processor's features, the GPUs (or why none can be "
            "used), and the file formats.",
            {"tilewise info", "tilewise info --json"},
            twi_command_info,
        },
    [TWI_HELP] =
        {
            "help",
            "[COMMAND]",
            0,
            1,
            TWI_OPERAND_COMMAND,
            "this text, or a command's own",
            "Prints the help of a command, or the list of commands. --man prints the manual page, --completion the "
            "completions of a shell; both are made from the same tables as this text.",
            {"tilewise help box", "tilewise help --man | man -l -", "source <(tilewise help --completion bash)"},
            twi_command_help,
        },
};

/* ---- Options ------------------------------------------------------------------------------------- */

#define FOR(command) (1u << TWI_##command)
#define FILTERS FOR(BOX)
#define PROBLEMS (FOR(BENCH) | FOR(EXPLAIN)) /* commands that describe an image instead of reading one */
#define WORKING (FILTERS | FOR(VERIFY) | FOR(BENCH))
#define EVERY ((1u << TWI_COMMAND_COUNT) - 1u)

#define WINDOW_LEGAL "WxH or N, each 1 to 65535"
#define TYPE_LEGAL "u8, u16, i16, i32, f32 or f64"
#define TYPE_WORDS "u8 u16 i16 i32 f32 f64"
#define WINDOW_HELP "window of W by H pixels, or N by N (default 3x3)"

const twi_option twi_options[] = {
    {'r', FILTERS | PROBLEMS, "radius", "N", twi_set_radius, "a whole number, 0 to 32767", NULL,
     "window of 2N+1 by 2N+1 pixels"},
    {0, FILTERS, "size", "WxH", twi_set_window, WINDOW_LEGAL, NULL, WINDOW_HELP},
    {0, PROBLEMS, "window", "WxH", twi_set_window, WINDOW_LEGAL, NULL, WINDOW_HELP},
    {0, FILTERS | PROBLEMS, "anchor", "X,Y", twi_set_anchor, "X,Y, each 0 to the window's side less 1", NULL,
     "the window's position that lies on the output pixel (default its middle, W/2,H/2)"},
    {0, FILTERS | PROBLEMS, "border", "RULE", twi_set_border, "zero, constant:V, replicate, reflect, mirror or wrap",
     "zero constant: replicate reflect mirror wrap",
     "what positions outside the image read, for a row abcd: zero 00|abcd|00 (default), constant:V VV|abcd|VV, "
     "replicate aa|abcd|dd, reflect ba|abcd|dc, mirror cb|abcd|cb, wrap cd|abcd|ab; the names of OpenCV "
     "(BORDER_REFLECT_101) and SciPy (nearest) are understood too"},
    {0, FILTERS | PROBLEMS, "rounding", "RULE", twi_set_rounding, "floor or nearest", "floor nearest",
     "how an integer mean is rounded: floor (default) toward minus infinity, nearest with ties up"},
    {0, FILTERS, "view", "X,Y,W,H", twi_set_view, "X,Y,W,H: whole numbers, X and Y from 0, W and H from 1", NULL,
     "take this part of the input as an image of its own"},
    {0, FILTERS, "page", "N", twi_set_page, "a whole number, 0 to 2147483647", NULL,
     "page of a multi-page file, from 0 (default)"},
    {0, FILTERS, "dtype", "TYPE", twi_set_type, TYPE_LEGAL, TYPE_WORDS,
     "type of the output's pixels (default the input's; box has no other)"},
    {0, PROBLEMS, "dtype", "TYPE", twi_set_type, TYPE_LEGAL, TYPE_WORDS, "type of the image's pixels (default u8)"},
    {0, PROBLEMS, "size", "WxH", twi_set_image_size, "WxH or N, each 1 to 1000000000", NULL,
     "size of the image (default 4096x4096)"},
    {0, PROBLEMS, "channels", "N", twi_set_channels, "1, 2, 3 or 4", "1 2 3 4", "channels of the image (default 1)"},
    {0, FOR(BENCH), "pitch", "BYTES", twi_set_pitch, "odd, or a number of bytes, 1 to 1000000000000", "odd",
     "bytes from a row of the images to the next: odd is the shortest odd number of elements (default a multiple of "
     "256 bytes)"},
    {0, WORKING, "device", "NAME", twi_set_device, "auto, cpu, cuda or cuda:N", "auto cpu cuda cuda:0",
     "where to work: auto (default) is the GPU where one works, else the CPU; cuda is an error where none works"},
    {0, FILTERS, "variant", "NAME", twi_set_variant, "one name, such as reference", NULL,
     "one named implementation, in place of the planner's choice: the result is the same, only the time differs "
     "('tilewise explain --list' prints them)"},
    {0, FOR(VERIFY) | FOR(BENCH), "variant", "A,B", twi_set_variants, "names separated by commas, such as reference",
     NULL, "these implementations alone ('tilewise explain --list' prints them)"},
    {0, WORKING, "block", "WxH", twi_set_block, "WxH, each 1 to 1024", "16x16 32x32 64x16 32x8",
     "threads of a block, for the CUDA variants that have a choice"},
    {0, FILTERS | FOR(BENCH), "threads", "N", twi_set_threads, "a whole number, 1 to 1024", NULL,
     "CPU threads (default all that this process may use)"},
    {0, FOR(BENCH), "graph", NULL, twi_set_graph, NULL, NULL,
     "launch the kernels as CUDA graphs of 10, for images so small that launching takes most of the time"},
    {0, FOR(BENCH), "pinned", NULL, twi_set_pinned, NULL, NULL,
     "take the round trip's images from pinned memory, not from ordinary memory"},
    {0, FOR(VERIFY), "seed", "N", twi_set_seed, "a whole number, 0 to 9223372036854775807", NULL,
     "which random cases to draw (default 1)"},
    {0, FOR(VERIFY), "cases", "N", twi_set_cases, "a whole number, 0 to 1000000000", NULL,
     "how many random cases to draw (default 100)"},
    {0, FOR(EXPLAIN), "list", NULL, twi_set_list, NULL, NULL, "list the operation's variants"},
    {0, FOR(VERIFY) | PROBLEMS | FOR(INFO), "json", NULL, twi_set_json, NULL, NULL, "print JSON"},
    {0, FILTERS, "progress", "WHEN", twi_set_progress, "auto, always or never", "auto always never",
     "show progress on stderr: auto (default) on a terminal, for work of more than a second"},
    {'q', FILTERS, "quiet", NULL, twi_set_quiet, NULL, NULL, "no progress and no warnings, only errors"},
    {0, FOR(HELP), "man", NULL, twi_set_man, NULL, NULL, "print the manual page (roff)"},
    {0, FOR(HELP), "completion", "SHELL", twi_set_completion, "bash, zsh or fish", "bash zsh fish",
     "print the completions for a shell"},
    {'h', EVERY, "help", NULL, twi_set_help, NULL, NULL, "print the command's help"},
};

const size_t twi_option_count = sizeof twi_options / sizeof twi_options[0];

/* ---- Parsing ------------------------------------------------------------------------------------- */

enum { FIRST_LONG = 256 /* getopt's code of option 0; below are letters and getopt's own codes */ };

static twi_exit wrong(twi_args *args, const char *format, ...) __attribute__((format(printf, 2, 3)));

static twi_exit wrong(twi_args *args, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(args->message, sizeof args->message, format, arguments);
    va_end(arguments);
    return TWI_EXIT_USAGE;
}

/* Edits (insert, delete, replace, exchange neighbours) between two words, compared up to 31 letters. */
static size_t distance(const char *a, const char *b)
{
    enum { MOST = 31 };
    size_t rows[3][MOST + 1];
    const size_t length_a = strnlen(a, MOST);
    const size_t length_b = strnlen(b, MOST);
    for (size_t j = 0; j <= length_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t *row = rows[i % 3];
        const size_t *before = rows[(i + 2) % 3];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t best = before[j - 1] + (a[i - 1] != b[j - 1]);
            best = before[j] + 1 < best ? before[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                const size_t exchanged = rows[(i + 1) % 3][j - 2] + 1;
                best = exchanged < best ? exchanged : best;
            }
            row[j] = best;
        }
    }
    return rows[length_a % 3][length_b];
}

const char *twi_near(const char *word, const char *(*name)(size_t index, const void *data), const void *data)
{
    const char *best = NULL;
    size_t least = strlen(word) < 4 ? 2 : 3; /* so many edits are too many */
    const char *candidate;
    for (size_t i = 0; (candidate = name(i, data)) != NULL; i++) {
        const size_t edits = distance(word, candidate);
        if (edits < least) {
            least = edits;
            best = candidate;
        }
    }
    return best;
}

static const char *command_name(size_t index, const void *data)
{
    (void)data;
    return index < TWI_COMMAND_COUNT ? twi_commands[index].name : NULL;
}

static twi_command_id id_of(const twi_command *command)
{
    return (twi_command_id)(command - twi_commands);
}

/* The index-th option of the command `data`. */
static const char *option_name(size_t index, const void *data)
{
    for (size_t i = 0; i < twi_option_count; i++)
        if (twi_option_applies(&twi_options[i], id_of(data)) && index-- == 0)
            return twi_options[i].name;
    return NULL;
}

const twi_command *twi_find_command(const char *name)
{
    for (int i = 0; i < TWI_COMMAND_COUNT; i++)
        if (strcmp(twi_commands[i].name, name) == 0)
            return &twi_commands[i];
    return NULL;
}

static twi_exit choose_command(twi_args *args, const char *word)
{
    if (!word)
        return wrong(args, "no command given: see 'tilewise help'");
    args->command = twi_find_command(word);
    if (args->command)
        return TWI_EXIT_DONE;
    const char *near = twi_near(word, command_name, NULL);
    if (near)
        return wrong(args, "unknown command '%s': did you mean '%s'?", word, near);
    return wrong(args, "unknown command '%s': see 'tilewise help'", word);
}

/* The command's options in getopt's form: `longs` has room for all and the end, `shorts` for two a letter. */
static void getopt_tables(twi_command_id command, struct option *longs, char *shorts)
{
    /* '-': operands come in place, among the options; ':': getopt prints nothing */
    *shorts++ = '-';
    *shorts++ = ':';
    for (size_t i = 0; i < twi_option_count; i++) {
        const twi_option *option = &twi_options[i];
        if (!twi_option_applies(option, command))
            continue;
        const int takes = option->argument ? required_argument : no_argument;
        *longs++ = (struct option){option->name, takes, NULL, FIRST_LONG + (int)i};
        if (option->letter) {
            *shorts++ = option->letter;
            if (option->argument)
                *shorts++ = ':';
        }
    }
    *longs = (struct option){0};
    *shorts = '\0';
}

static const twi_option *option_of(twi_command_id command, int code)
{
    for (size_t i = 0; i < twi_option_count; i++)
        if (code == FIRST_LONG + (int)i ||
            (code == twi_options[i].letter && code != 0 && twi_option_applies(&twi_options[i], command)))
            return &twi_options[i];
    return NULL;
}

/* What getopt refused with '?': `code` is its optopt, `word` the argument in question. */
static twi_exit refused(twi_args *args, int code, const char *word)
{
    const twi_command *command = args->command;
    char name[64];
    const char *first = NULL;
    if (code >= FIRST_LONG)
        return wrong(args, "--%s takes no value: '%s'", twi_options[code - FIRST_LONG].name, word);
    if (code != 0)
        return wrong(args, "unknown option -%c of %s: see 'tilewise help %s'", code, command->name, command->name);
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const size_t length = strlen(name);
    for (size_t i = 0; i < twi_option_count; i++) {
        const char *candidate = twi_options[i].name;
        if (!twi_option_applies(&twi_options[i], id_of(command)) || strncmp(candidate, name, length) != 0)
            continue;
        if (first)
            return wrong(args, "option --%s of %s is ambiguous: --%s or --%s?", name, command->name, first, candidate);
        first = candidate;
    }
    const char *near = twi_near(name, option_name, command);
    if (near)
        return wrong(args, "unknown option --%s of %s: did you mean --%s?", name, command->name, near);
    return wrong(args, "unknown option --%s of %s: see 'tilewise help %s'", name, command->name, command->name);
}

static twi_exit add_operand(twi_args *args, int *count, const char *word)
{
    const twi_command *command = args->command;
    if (*count >= command->most && command->most == 0)
        return wrong(args, "%s takes no operand: '%s'", command->name, word);
    if (*count >= command->most)
        return wrong(args, "%s takes %s: '%s' is one too many", command->name, command->operands, word);
    args->operands[(*count)++] = word;
    return TWI_EXIT_DONE;
}

static twi_exit set_option(twi_args *args, const twi_option *option, const char *text)
{
    if (!option->set(args, text))
        return wrong(args, "--%s '%s': give %s", option->name, text ? text : "", option->legal);
    return TWI_EXIT_DONE;
}

/* What only the whole line can tell. */
static twi_exit check_together(twi_args *args, int operands)
{
    const twi_command *command = args->command;
    const char *size = command->kind == TWI_OPERAND_FILE ? "size" : "window";
    if (operands < command->fewest)
        return wrong(args, "%s takes %s: %s", command->name, command->operands,
                     operands == 0 ? "none was given" : "the last is missing");
    if (args->radius_given && args->size_given)
        return wrong(args, "--radius and --%s both set the window: give one of them", size);
    if (!args->anchor_given)
        args->window = tw_window_centred(args->window.width, args->window.height);
    if (args->window.anchor_x >= args->window.width || args->window.anchor_y >= args->window.height)
        return wrong(args, "--anchor %d,%d lies outside the %dx%d window: give 0,0 to %d,%d",
                     (int)args->window.anchor_x, (int)args->window.anchor_y, (int)args->window.width,
                     (int)args->window.height, (int)args->window.width - 1, (int)args->window.height - 1);
    if (args->block_width > 0 && args->backend == TW_CPU)
        return wrong(args, "--block %dx%d is for CUDA variants: leave it out with --device cpu", (int)args->block_width,
                     (int)args->block_height);
    return TWI_EXIT_DONE;
}

/* Walks the arguments after the command. */
static twi_exit parse_rest(twi_args *args, int argc, char *const *argv)
{
    const twi_command_id command = id_of(args->command);
    struct option longs[sizeof twi_options / sizeof twi_options[0] + 1];
    char shorts[2 * sizeof twi_options / sizeof twi_options[0] + 3];
    int operands = 0;
    twi_exit result = TWI_EXIT_DONE;
    getopt_tables(command, longs, shorts);
    optind = 0; /* starts afresh, also after another parse */
    while (result == TWI_EXIT_DONE) {
        const int code = getopt_long(argc, argv, shorts, longs, NULL);
        if (code == -1)
            break;
        if (code == 1)
            result = add_operand(args, &operands, optarg);
        else if (code == '?')
            result = refused(args, optopt, argv[optind - 1]);
        else if (code == ':')
            result = wrong(args, "%s needs a value: give %s", argv[optind - 1], option_of(command, optopt)->legal);
        else
            result = set_option(args, option_of(command, code), optarg);
        if (args->help)
            return TWI_EXIT_DONE; /* whatever else the line says */
    }
    for (; result == TWI_EXIT_DONE && optind < argc; optind++) /* behind "--" */
        result = add_operand(args, &operands, argv[optind]);
    return result == TWI_EXIT_DONE ? check_together(args, operands) : result;
}

twi_exit twi_args_parse(int argc, char *const *argv, twi_args *args)
{
    *args = (twi_args){
        .window = {3, 3, 1, 1},
        .type = TW_TYPE_COUNT,
        .image_width = 4096,
        .image_height = 4096,
        .channels = 1,
        .seed = 1,
        .cases = 100,
    };
    const twi_exit result = choose_command(args, argc > 1 ? argv[1] : NULL);
    return result == TWI_EXIT_DONE ? parse_rest(args, argc - 1, argv + 1) : result;
}
