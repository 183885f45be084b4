/* Texts made from the tables of commands and options. */
#ifndef TWI_HELP_H
#define TWI_HELP_H

#include "cli/args.h"

/* All on stdout. */
void twi_print_overview(void);
void twi_print_help(const twi_command *command);
void twi_print_man(void);
/* `shell`: "bash", "zsh" or "fish". */
void twi_print_completion(const char *shell);

/* What each exit code means, NULL beyond the last. */
const char *twi_exit_meaning(int code);

#endif
