/* The parser that walks the two tables of the command line. */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/args.h"

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

/* What other software calls a command: too many letters away for twi_near(), or near to another. */
static const struct {
    const char *theirs, *ours;
} synonyms[] = {
    {"erode", "min"},    {"erosion", "min"},      {"minimum", "min"},   {"dilate", "max"},
    {"dilation", "max"}, {"maximum", "max"},      {"blur", "box"},      {"mean", "box"},
    {"uniform", "box"},  {"filter", "correlate"}, {"conv", "convolve"}, {"percentile", "rank"},
    {"opening", "open"}, {"closing", "close"},    {"cumsum", "scan"},   {"histogram", "stats --histogram"},
};

static const char *command_name(size_t index, const void *data)
{
    (void)data;
    return index < TWI_COMMAND_COUNT ? twi_commands[index].name : NULL;
}

const char *twi_command_meant(const char *word)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++)
        if (strcmp(synonyms[i].theirs, word) == 0)
            return synonyms[i].ours;
    return twi_near(word, command_name, NULL);
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
    const char *meant = twi_command_meant(word);
    if (meant)
        return wrong(args, "unknown command '%s': did you mean '%s'?", word, meant);
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

/* Operands are gathered behind argv[0], over words that have been parsed. */
static twi_exit add_operand(twi_args *args, char **argv, char *word)
{
    const twi_command *command = args->command;
    if (args->operand_count >= command->most && command->most == 0)
        return wrong(args, "%s takes no operand: '%s'", command->name, word);
    if (args->operand_count >= command->most)
        return wrong(args, "%s takes %s: '%s' is one too many", command->name, command->operands, word);
    if (word[0] == '\0')
        return wrong(args, "%s takes %s: an empty word was given", command->name, command->operands);
    argv[++args->operand_count] = word;
    return TWI_EXIT_DONE;
}

static twi_exit set_option(twi_args *args, const twi_option *option, const char *text)
{
    args->given[option - twi_options] = true;
    if (!option->set(args, text))
        return wrong(args, "--%s '%s': give %s", option->name, text ? text : "", option->legal);
    return TWI_EXIT_DONE;
}

/* The options and operands that read stdin. */
static int stdin_readers(const twi_args *args)
{
    const bool has_input = args->command->kind == TWI_OPERAND_FILE && args->operand_count >= args->command->fewest;
    const char *const words[] = {args->mask,
                                 args->row,
                                 args->column,
                                 args->footprint,
                                 args->table,
                                 args->files_from,
                                 has_input ? args->operands[0] : NULL};
    int readers = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        readers += words[i] && strcmp(words[i], "-") == 0;
    return readers;
}

/* What only the whole line can tell. */
static twi_exit check_together(twi_args *args)
{
    const twi_command *command = args->command;
    const char *size = command->kind == TWI_OPERAND_FILE ? "size" : "window";
    if (args->operand_count < command->fewest - (args->files_from ? 1 : 0))
        return wrong(args, "%s takes %s: %s", command->name, command->operands,
                     args->operand_count == 0 ? "none was given" : "the last is missing");
    if (stdin_readers(args) > 1)
        return wrong(args, "'-' is stdin, which can be read but once: give it once, and names of files elsewhere");
    if (args->radius_given && args->size_given)
        return wrong(args, "--radius and --%s both set the window: give one of them", size);
    if (args->footprint && (args->radius_given || args->size_given || args->shape_given))
        return wrong(args, "--footprint sets the window: leave --radius, --%s and --shape out", size);
    if (args->rank >= 0 && args->percentile >= 0)
        return wrong(args, "--k and --percentile both choose the rank: give one of them");
    if (!args->anchor_given)
        args->window = tw_window_centred(args->window.width, args->window.height);
    const bool sized = !args->mask && !args->row && !args->column && !args->footprint; /* else: what those hold */
    if (sized && (args->window.anchor_x >= args->window.width || args->window.anchor_y >= args->window.height))
        return wrong(args, "--anchor %d,%d lies outside the %dx%d window: give 0,0 to %d,%d",
                     (int)args->window.anchor_x, (int)args->window.anchor_y, (int)args->window.width,
                     (int)args->window.height, (int)args->window.width - 1, (int)args->window.height - 1);
    if (args->block_width > 0 && args->backend == TW_CPU)
        return wrong(args, "--block %dx%d is for CUDA variants: leave it out with --device cpu", (int)args->block_width,
                     (int)args->block_height);
    return TWI_EXIT_DONE;
}

/* Walks the arguments after the command. */
static twi_exit parse_rest(twi_args *args, int argc, char **argv)
{
    const twi_command_id command = id_of(args->command);
    struct option longs[TWI_MOST_OPTIONS + 1];
    char shorts[2 * TWI_MOST_OPTIONS + 3];
    twi_exit result = TWI_EXIT_DONE;
    getopt_tables(command, longs, shorts);
    optind = 0; /* starts afresh, also after another parse */
    while (result == TWI_EXIT_DONE) {
        const int code = getopt_long(argc, argv, shorts, longs, NULL);
        if (code == -1)
            break;
        if (code == 1)
            result = add_operand(args, argv, optarg);
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
        result = add_operand(args, argv, argv[optind]);
    argv[args->operand_count + 1] = NULL;
    args->operands = (const char *const *)argv + 1;
    return result == TWI_EXIT_DONE ? check_together(args) : result;
}

twi_exit twi_args_parse(int argc, char **argv, twi_args *args)
{
    *args = (twi_args){
        .window = {3, 3, 1, 1},
        .divisor = 1,
        .sigma_x = 1,
        .sigma_y = 1,
        .truncate = 4,
        .iterations = 1,
        .rank = -1,
        .percentile = -1,
        .type = TW_ELEMENT_COUNT,
        .to = TW_ELEMENT_COUNT,
        .lines = TW_AXIS_COUNT,
        .figures = TW_FIGURE_ALL,
        .image_width = 4096,
        .image_height = 4096,
        .channels = 1,
        .seed = 1,
        .cases = 100,
    };
    const twi_exit result = choose_command(args, argc > 1 ? argv[1] : NULL);
    return result == TWI_EXIT_DONE ? parse_rest(args, argc - 1, argv + 1) : result;
}
