/* What the command's files share: exit codes, the one line of a failure, and the commands themselves. */
#ifndef TWI_CLI_H
#define TWI_CLI_H

#include <stdio.h>

#include "tilewise.h"
#include "io/io.h"

/* What each means is written in help.c, for `tilewise help` and the man page. */
typedef enum twi_exit {
    TWI_EXIT_DONE = 0,
    TWI_EXIT_NO = 1,
    TWI_EXIT_USAGE = 2,
    TWI_EXIT_INPUT = 3,
    TWI_EXIT_OUTPUT = 4,
    TWI_EXIT_MEMORY = 5,
    TWI_EXIT_DEVICE = 6
} twi_exit;

struct twi_args;
struct twi_recipe;

/* Prints "tilewise: ..." to stderr, as one line whatever the text holds, and returns `code`. */
twi_exit twi_complain(twi_exit code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What a thread complains of, without "tilewise: ", kept in place of being printed. */
typedef struct twi_complaints {
    char *failure; /* the last line of a code other than TWI_EXIT_DONE; NULL: none, or no memory for it */
    char *warning; /* the last one of TWI_EXIT_DONE */
} twi_complaints;

/* From here on the calling thread's lines are kept there, which the caller frees; NULL: they are printed again. Returns
   where they were kept before. */
twi_complaints *twi_keep_complaints(twi_complaints *kept);

/* The same for the last failure of the library, of the file reader or writer. */
twi_exit twi_complain_status(tw_status status);
twi_exit twi_complain_io(twi_io_status status);

/* The code that goes with a failure of the library. */
twi_exit twi_exit_of(tw_status status);

/* The last failure of twi_io_matrix_parse() or twi_io_matrix_read(), with the option whose value they read. */
twi_exit twi_complain_option(const char *option, twi_io_status status);

/* Whether the device that --device names is there; if not, the line has been printed. */
twi_exit twi_require_device(const struct twi_args *args);

/* Checks the names in `variants`, split by commas; if *backend is auto, it becomes the one that has them all. */
twi_exit twi_check_variants(const char *variants, tw_op op, tw_backend *backend);

/* The numbers of the devices that --device names; returns how many, 0 where it is the one args->device. */
int twi_devices(const struct twi_args *args, int numbers[]);

/* Opens the device that --device and --variant ask for, with so many CPU threads (0: all), and so much of a GPU's
   memory (0: all). `op`: the operation that --variant is of; progress may be NULL. On failure the line has been
   printed. */
twi_exit twi_open_context(const struct twi_args *args, tw_op op, int threads, uint64_t device_memory,
                          tw_progress progress, void *user, tw_context **context);

/* Reads the file, as --page and --view say; `src` is a part of `input`, which is to be freed in any case. `sharers`:
   how many such works the memory is for. On failure the line has been printed. */
twi_exit twi_read_input(const struct twi_args *args, const char *path, int sharers, twi_io_image *input, tw_image *src);

/* The problem that args->operands[0] and the options describe, for commands that read no image. Its arrays are the
   recipe's, which is to be freed in any case. On failure the line has been printed. */
twi_exit twi_describe_problem(const struct twi_args *args, struct twi_recipe *recipe, tw_problem *problem);

/* Writes what `put` prints to a file that appears whole or not at all. On failure the line has been printed. */
twi_exit twi_write_page(const char *path, twi_exit (*put)(const void *subject, FILE *page), const void *subject);

/* The commands: each does its work, prints its own failure and returns the exit code. */
twi_exit twi_command_filter(const struct twi_args *args);
twi_exit twi_command_stats(const struct twi_args *args);
twi_exit twi_command_verify(const struct twi_args *args);
twi_exit twi_command_bench(const struct twi_args *args);
twi_exit twi_command_tune(const struct twi_args *args);
twi_exit twi_command_explain(const struct twi_args *args);
twi_exit twi_command_info(const struct twi_args *args);
twi_exit twi_command_help(const struct twi_args *args);

#endif
