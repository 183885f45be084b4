/* The file that keeps what `tilewise tune` has measured. */
#ifndef TWI_CLI_WISDOM_H
#define TWI_CLI_WISDOM_H

#include "cli/args.h"

enum { TWI_MOST_PATH = 4096 };

/* $TILEWISE_WISDOM; without it tilewise/wisdom in $XDG_CACHE_HOME or ~/.cache. False: nowhere. */
bool twi_wisdom_path(char path[TWI_MOST_PATH]);

/* Gives the context what the file holds. A file that does not fit is left alone, with a note unless --quiet. */
void twi_wisdom_load(const twi_args *args, tw_context *context);

/* Adds what the context remembers to the file; on failure the line has been printed. Any number of commands may do so
   at a time. The context then remembers all of the file. */
twi_exit twi_wisdom_save(const twi_args *args, const char *path, tw_context *context);

/* Makes the folders that the path leads through; on failure the line has been printed. */
twi_exit twi_make_folders(const char *path);

#endif
