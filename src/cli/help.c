/* Help and the manual page, from the tables. */
#include <stdio.h>
#include <string.h>

#include "cli/help.h"

enum { WIDTH = 79, OPTION_COLUMN = 26 };

const char *twi_exit_meaning(int code)
{
    static const char *const meanings[] = {
        [TWI_EXIT_DONE] = "done",
        [TWI_EXIT_NO] = "a difference that verify found, a file of several that failed, a failure of no other class",
        [TWI_EXIT_USAGE] = "wrong usage",
        [TWI_EXIT_INPUT] = "the input is unreadable or corrupt",
        [TWI_EXIT_OUTPUT] = "the output could not be written",
        [TWI_EXIT_MEMORY] = "out of memory, or past a limit",
        [TWI_EXIT_DEVICE] = "the requested device is not available",
    };
    return (size_t)code < sizeof meanings / sizeof meanings[0] ? meanings[code] : NULL;
}

static const char signal_meaning[] = "ended by signal n";

static const char files_text[] =
    "Files are known by their content: PNG, JPEG, TIFF and BigTIFF, PNM and PFM, and NumPy's .npy. The output's name "
    "picks its format; '-' is stdin or stdout, and stdout gets the input's format. The output appears whole or not at "
    "all, and replaces an existing file. ICC profile, resolution, EXIF, XMP, orientation and georeference travel with "
    "the image where both formats hold them.";

static const char many_text[] =
    "Several inputs, a quoted pattern such as 'in/*.png' and the names of --files-from are worked on at a time: while "
    "one "
    "is computed, others are read and written. OUTPUT is then a folder, which is made if its name ends in '/', and "
    "each "
    "result has its input's name. A file that fails stops no other; the exit code is then 1.";

/* Prints `text` broken at blanks, from `column` on; further lines are indented by `indent`. */
static void print_wrapped(const char *text, int column, int indent)
{
    while (*text) {
        const int word = (int)strcspn(text, " ");
        if (column > indent && column + 1 + word > WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        printf("%.*s", word, text);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_option(const twi_option *option)
{
    int column =
        option->letter ? printf("  -%c, --%s", option->letter, option->name) : printf("      --%s", option->name);
    if (option->argument)
        column += printf(" %s", option->argument);
    if (column >= OPTION_COLUMN) {
        putchar('\n');
        column = 0;
    }
    printf("%*s", OPTION_COLUMN - column, "");
    print_wrapped(option->help, OPTION_COLUMN, OPTION_COLUMN);
}

static void print_usage(const twi_command *command)
{
    printf("usage: tilewise %s [OPTIONS]%s%s\n", command->name, command->operands[0] ? " " : "", command->operands);
}

static void print_examples(const twi_command *command)
{
    puts("\nexamples:");
    for (size_t i = 0; i < sizeof command->examples / sizeof command->examples[0]; i++)
        if (command->examples[i])
            printf("  %s\n", command->examples[i]);
}

void twi_print_help(const twi_command *command)
{
    const twi_command_id id = (twi_command_id)(command - twi_commands);
    printf("tilewise %s: %s\n", command->name, command->summary);
    print_usage(command);
    putchar('\n');
    print_wrapped(command->description, 0, 0);
    puts("\noptions:");
    for (size_t i = 0; i < twi_option_count; i++)
        if (twi_option_applies(&twi_options[i], id))
            print_option(&twi_options[i]);
    if (command->kind == TWI_OPERAND_FILE) {
        putchar('\n');
        print_wrapped(files_text, 0, 0);
        putchar('\n');
        print_wrapped(many_text, 0, 0);
    }
    print_examples(command);
}

void twi_print_overview(void)
{
    puts("tilewise filters images: the same bytes on every device, as fast as memory allows.\n\n"
         "  tilewise box photo.png blurred.png          blur with the mean of 3x3 pixels\n"
         "  tilewise box -r 7 photo.png blurred.png     the same with 15x15 pixels\n\n"
         "usage: tilewise COMMAND [OPTIONS] [OPERANDS]\n\n"
         "commands:");
    for (int i = 0; i < TWI_COMMAND_COUNT; i++)
        printf("  %-10s %s\n", twi_commands[i].name, twi_commands[i].summary);
    puts("\n'tilewise help COMMAND' prints a command's options, 'tilewise --version' the version.\n");
    print_wrapped(files_text, 0, 0);
    putchar('\n');
    print_wrapped(many_text, 0, 0);
    puts("\nexit codes:");
    for (int code = 0; twi_exit_meaning(code); code++)
        printf("  %-6d %s\n", code, twi_exit_meaning(code));
    printf("  %-6s %s\n", "128+n", signal_meaning);
}

/* ---- The manual page ----------------------------------------------------------------------------- */

/* Text as roff takes it: hyphens that can be copied, no control lines, no escapes. */
static void print_roff(const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '\'')
            fputs("\\(aq", stdout);
        else
            putchar(*text);
    }
}

static void print_roff_line(const char *text)
{
    print_roff(text);
    putchar('\n');
}

static void print_man_option(const twi_option *option)
{
    const char *separator = "";
    puts(".TP");
    if (option->letter)
        printf("\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", stdout);
    print_roff(option->name);
    fputs("\\fR", stdout);
    if (option->argument) {
        fputs(" \\fI", stdout);
        print_roff(option->argument);
        fputs("\\fR", stdout);
    }
    fputs("\n(", stdout);
    for (int i = 0; i < TWI_COMMAND_COUNT; i++) {
        if (!twi_option_applies(option, (twi_command_id)i))
            continue;
        printf("%s%s", separator, twi_commands[i].name);
        separator = ", ";
    }
    fputs(") ", stdout);
    print_roff_line(option->help);
    if (option->legal) {
        fputs(".br\nTakes ", stdout);
        print_roff(option->legal);
        puts(".");
    }
}

static void print_man_command(const twi_command *command)
{
    printf(".SS \"tilewise %s", command->name);
    if (command->operands[0])
        printf(" %s", command->operands);
    puts("\"");
    print_roff_line(command->description);
}

static void print_man_exit(const char *code, const char *meaning)
{
    printf(".TP\n\\fB%s\\fR\n", code);
    print_roff_line(meaning);
}

void twi_print_man(void)
{
    printf(".TH TILEWISE 1 \"\" \"tilewise %s\" \"User Commands\"\n", tw_version());
    puts(".SH NAME\ntilewise \\- image filters with the same bytes on every device\n"
         ".SH SYNOPSIS\n\\fBtilewise\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIOPERANDS\\fR]\n.br\n"
         "\\fBtilewise\\fR \\fB\\-\\-version\\fR\n"
         ".SH DESCRIPTION\n"
         "Filters images on the CPU or on an NVIDIA GPU. The result does not depend on the device, the number of "
         "threads or the chosen implementation, to the byte.\n"
         "Options stand before or after the operands; \\fB\\-\\-\\fR ends them. Results go to stdout, a failure is "
         "one line on stderr.\n"
         ".SH COMMANDS");
    for (int i = 0; i < TWI_COMMAND_COUNT; i++)
        print_man_command(&twi_commands[i]);
    puts(".SH OPTIONS\nIn parentheses: the commands that take the option.");
    for (size_t i = 0; i < twi_option_count; i++)
        print_man_option(&twi_options[i]);
    puts(".SH FILES");
    print_roff_line(files_text);
    puts(".PP");
    print_roff_line(many_text);
    puts(".SH EXIT STATUS");
    for (int code = 0; twi_exit_meaning(code); code++) {
        const char digit[] = {(char)('0' + code), '\0'};
        print_man_exit(digit, twi_exit_meaning(code));
    }
    print_man_exit("128+n", signal_meaning);
    puts(".SH EXAMPLES\n.nf");
    for (int i = 0; i < TWI_COMMAND_COUNT; i++)
        for (size_t j = 0; j < sizeof twi_commands[i].examples / sizeof twi_commands[i].examples[0]; j++)
            if (twi_commands[i].examples[j])
                print_roff_line(twi_commands[i].examples[j]);
    puts(".fi");
}
