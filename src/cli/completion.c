/* Completions for bash, zsh and fish, from the tables. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/help.h"
#include "cli/recipe.h"

static void print_commands(void)
{
    for (int i = 0; i < TWI_COMMAND_COUNT; i++)
        printf("%s%s", i > 0 ? " " : "", twi_commands[i].name);
}

static void print_operations(void)
{
    const char *name;
    for (size_t i = 0; (name = twi_filter_name(i, NULL)) != NULL; i++)
        printf("%s%s", i > 0 ? " " : "", name);
}

/* The words that an operand can be, for those that are no files. */
static void print_operand_words(twi_operand kind)
{
    if (kind == TWI_OPERAND_OP)
        print_operations();
    else if (kind == TWI_OPERAND_COMMAND)
        print_commands();
}

/* The part of a help text that fits a menu's line: up to a bracket or a longer explanation. */
static int brief(const char *text)
{
    const size_t length = strcspn(text, ":;(");
    return (int)(length > 0 && text[length] != '\0' && text[length - 1] == ' ' ? length - 1 : length);
}

/* ---- bash ---------------------------------------------------------------------------------------- */

/* "box,--border|box,-b) words=...": what follows an option. */
static void print_bash_value(const char *command, const twi_option *option)
{
    printf("        %s,--%s", command, option->name);
    if (option->letter)
        printf("|%s,-%c", command, option->letter);
    printf(") words='%s' ;;\n", option->words ? option->words : "");
}

static void print_bash_options(twi_command_id id)
{
    const char *separator = "";
    printf("        %s) options='", twi_commands[id].name);
    for (size_t i = 0; i < twi_option_count; i++) {
        const twi_option *option = &twi_options[i];
        if (!twi_option_applies(option, id))
            continue;
        if (option->letter)
            printf("%s-%c", separator, option->letter);
        printf("%s--%s", option->letter ? " " : separator, option->name);
        separator = " ";
    }
    fputs("' operands='", stdout);
    print_operand_words(twi_commands[id].kind);
    printf("' files=%d ;;\n", twi_commands[id].kind == TWI_OPERAND_FILE);
}

static void print_bash(void)
{
    puts("# bash completion for tilewise\n"
         "_tilewise()\n{\n"
         "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "    local command=${COMP_WORDS[1]} words options operands files=0\n"
         "    COMPREPLY=()\n"
         "    if ((COMP_CWORD == 1)); then");
    fputs("        mapfile -t COMPREPLY < <(compgen -W '", stdout);
    print_commands();
    puts(" --help --version' -- \"$current\")\n"
         "        return\n"
         "    fi\n"
         "    # bash splits words at '=' and ':'\n"
         "    if [[ $current == '=' ]]; then\n"
         "        current=\n"
         "    elif [[ $before == '=' ]]; then\n"
         "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
         "    fi\n"
         "    case $command,$before in");
    for (int id = 0; id < TWI_COMMAND_COUNT; id++)
        for (size_t i = 0; i < twi_option_count; i++)
            if (twi_option_applies(&twi_options[i], (twi_command_id)id) && twi_options[i].argument)
                print_bash_value(twi_commands[id].name, &twi_options[i]);
    puts("    esac\n"
         "    if [[ -v words ]]; then\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "        [[ ${COMPREPLY[0]} == *: ]] && compopt -o nospace\n"
         "        return\n"
         "    fi\n"
         "    case $command in");
    for (int id = 0; id < TWI_COMMAND_COUNT; id++)
        print_bash_options((twi_command_id)id);
    puts("    esac\n"
         "    if [[ $current == -* ]]; then\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")\n"
         "    elif ((files)); then\n"
         "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
         "        compopt -o filenames\n"
         "    else\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$operands\" -- \"$current\")\n"
         "    fi\n"
         "}\n"
         "complete -F _tilewise tilewise");
}

/* ---- zsh ----------------------------------------------------------------------------------------- */

/* Text inside single quotes and square brackets of a zsh specification, at most `length` letters. */
static void print_zsh_text(const char *text, int length)
{
    for (; *text && length-- > 0; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void print_zsh_option(const twi_option *option)
{
    fputs("            ", stdout);
    if (option->letter && option->argument)
        printf("'(-%c --%s)'{-%c+,--%s=}'[", option->letter, option->name, option->letter, option->name);
    else if (option->letter)
        printf("'(-%c --%s)'{-%c,--%s}'[", option->letter, option->name, option->letter, option->name);
    else
        printf("'--%s%s[", option->name, option->argument ? "=" : "");
    print_zsh_text(option->help, brief(option->help));
    fputs("]", stdout);
    if (option->argument) {
        printf(":%s:", option->argument);
        if (option->words) {
            putchar('(');
            print_zsh_text(option->words, INT_MAX);
            putchar(')');
        }
    }
    puts("' \\");
}

static void print_zsh_operands(const twi_command *command)
{
    if (command->kind == TWI_OPERAND_FILE)
        fputs(" '*:file:_files'", stdout);
    else if (command->most > 0) {
        fputs(" '1:operand:(", stdout);
        print_operand_words(command->kind);
        fputs(")'", stdout);
    }
    putchar('\n');
}

static void print_zsh(void)
{
    puts("#compdef tilewise\n"
         "_tilewise() {\n"
         "    if (( CURRENT == 2 )); then\n"
         "        local -a commands=(");
    for (int id = 0; id < TWI_COMMAND_COUNT; id++) {
        printf("            '%s:", twi_commands[id].name);
        print_zsh_text(twi_commands[id].summary, INT_MAX);
        puts("'");
    }
    puts("        )\n"
         "        _describe command commands\n"
         "        _arguments '--help[print the help]' '--version[print the version]'\n"
         "        return\n"
         "    fi\n"
         "    local command=$words[2]\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $command in");
    for (int id = 0; id < TWI_COMMAND_COUNT; id++) {
        printf("    %s)\n        _arguments -s -S \\\n", twi_commands[id].name);
        for (size_t i = 0; i < twi_option_count; i++)
            if (twi_option_applies(&twi_options[i], (twi_command_id)id))
                print_zsh_option(&twi_options[i]);
        fputs("           ", stdout);
        print_zsh_operands(&twi_commands[id]);
        puts("        ;;");
    }
    puts("    esac\n"
         "}\n"
         "_tilewise \"$@\"");
}

/* ---- fish ---------------------------------------------------------------------------------------- */

static void print_fish_text(const char *text, int length)
{
    putchar('\'');
    for (; *text && length-- > 0; text++)
        printf(strchr("'\\", *text) ? "\\%c" : "%c", *text);
    putchar('\'');
}

static void print_fish_option(const char *command, const twi_option *option)
{
    printf("complete -c tilewise -n '__fish_seen_subcommand_from %s' -l %s", command, option->name);
    if (option->letter)
        printf(" -s %c", option->letter);
    if (option->argument)
        fputs(" -x", stdout);
    if (option->words) {
        fputs(" -a ", stdout);
        print_fish_text(option->words, INT_MAX);
    }
    fputs(" -d ", stdout);
    print_fish_text(option->help, brief(option->help));
    putchar('\n');
}

static void print_fish(void)
{
    puts("# fish completion for tilewise\n"
         "complete -c tilewise -f\n"
         "complete -c tilewise -n __fish_use_subcommand -l help -d 'print the help'\n"
         "complete -c tilewise -n __fish_use_subcommand -l version -d 'print the version'");
    for (int id = 0; id < TWI_COMMAND_COUNT; id++) {
        const twi_command *command = &twi_commands[id];
        printf("complete -c tilewise -n __fish_use_subcommand -a %s -d ", command->name);
        print_fish_text(command->summary, INT_MAX);
        putchar('\n');
        for (size_t i = 0; i < twi_option_count; i++)
            if (twi_option_applies(&twi_options[i], (twi_command_id)id))
                print_fish_option(command->name, &twi_options[i]);
        if (command->kind == TWI_OPERAND_NONE)
            continue;
        printf("complete -c tilewise -n '__fish_seen_subcommand_from %s' ", command->name);
        if (command->kind == TWI_OPERAND_FILE) {
            puts("-F");
            continue;
        }
        fputs("-a '", stdout);
        print_operand_words(command->kind);
        puts("'");
    }
}

void twi_print_completion(const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        print_bash();
    else if (strcmp(shell, "zsh") == 0)
        print_zsh();
    else
        print_fish();
}
