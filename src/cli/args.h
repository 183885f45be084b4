/*
 * The command line: two tables, of commands and of options (tables.c), and the parser that fills a twi_args from
 * them. Help, man page and completions (help.c) are printed from the same tables.
 */
#ifndef TWI_ARGS_H
#define TWI_ARGS_H

#include "cli/cli.h"

typedef enum twi_command_id {
    TWI_BOX = 0,
    TWI_CORRELATE,
    TWI_CONVOLVE,
    TWI_SEPCONV,
    TWI_GAUSSIAN,
    TWI_SOBEL,
    TWI_SCHARR,
    TWI_PREWITT,
    TWI_LAPLACIAN,
    TWI_MIN,
    TWI_MAX,
    TWI_MEDIAN,
    TWI_RANK,
    TWI_OPEN,
    TWI_CLOSE,
    TWI_GRADIENT,
    TWI_TOPHAT,
    TWI_BLACKHAT,
    TWI_TRANSPOSE,
    TWI_ROTATE,
    TWI_FLIP,
    TWI_LUT,
    TWI_SCAN,
    TWI_INTEGRAL,
    TWI_STATS,
    TWI_VERIFY,
    TWI_BENCH,
    TWI_TUNE,
    TWI_EXPLAIN,
    TWI_INFO,
    TWI_HELP,
    TWI_COMMAND_COUNT
} twi_command_id;

/* What a command's operands are, for completion. */
typedef enum twi_operand { TWI_OPERAND_NONE = 0, TWI_OPERAND_FILE, TWI_OPERAND_OP, TWI_OPERAND_COMMAND } twi_operand;

enum { TWI_DEVICES = 64 }; /* that --device may list */

typedef struct twi_args twi_args;

typedef struct twi_command {
    const char *name;
    const char *operands; /* as help shows them: "INPUT OUTPUT" */
    int fewest;
    int most;
    twi_operand kind;
    const char *summary;     /* one line */
    const char *description; /* a paragraph */
    const char *examples[3];
    twi_exit (*run)(const twi_args *args);
} twi_command;

typedef struct twi_option {
    char letter;          /* '\0': none */
    uint64_t commands;    /* bits of twi_command_id */
    const char *name;     /* without dashes */
    const char *argument; /* as help shows it: "WxH"; NULL: a switch */
    /* Stores the value (NULL for a switch); false if it is not legal. */
    bool (*set)(twi_args *args, const char *text);
    const char *legal; /* what would be right, for the message and the man page; NULL for a switch */
    const char *words; /* values to complete, split by blanks; may be NULL */
    const char *help;
} twi_option;

extern const twi_command twi_commands[TWI_COMMAND_COUNT];
extern const twi_option twi_options[];
extern const size_t twi_option_count;

static inline bool twi_option_applies(const twi_option *option, twi_command_id command)
{
    return (option->commands >> command) & 1u;
}

typedef enum twi_progress_mode { TWI_PROGRESS_AUTO = 0, TWI_PROGRESS_ALWAYS, TWI_PROGRESS_NEVER } twi_progress_mode;

enum { TWI_MOST_OPTIONS = 80 };

/* Everything that a command line can say. What was not given has the value in brackets. */
struct twi_args {
    const twi_command *command;
    const char *const *operands; /* NULL behind the last */
    int operand_count;

    /* the filter, and where it runs */
    tw_window window; /* [3x3, centred] */
    tw_border border; /* [what the filter has: see border_given] */
    const char *mask; /* as given: numbers, or a file's name [NULL] */
    const char *row;
    const char *column;
    const char *footprint;
    const char *table;   /* a file's name [NULL] */
    double divisor;      /* [1] */
    bool divisor_is_sum; /* of the mask */
    double offset;
    double sigma_x; /* [1] */
    double sigma_y;
    double truncate; /* [4] */
    tw_direction direction;
    int32_t degrees;  /* [0: not given] */
    tw_turn flip;     /* [0: not given] */
    tw_axis lines;    /* of scan and stats [TW_AXIS_COUNT: not given] */
    unsigned figures; /* of stats: a set of tw_figure [all] */
    tw_shape shape;
    int32_t iterations; /* [1] */
    int64_t rank;       /* [-1] */
    double percentile;  /* [-1] */
    int64_t view_x;
    int64_t view_y;
    int64_t view_width; /* [0: the whole image] */
    int64_t view_height;
    int64_t page;
    const char *variant; /* one name, or names split by commas [NULL] */
    tw_rounding rounding;
    tw_type type; /* [TW_ELEMENT_COUNT] */
    tw_backend backend;
    int device;               /* the first */
    int devices[TWI_DEVICES]; /* several, by number */
    int device_count;         /* of `devices` [0: one]; -1: all that there are */
    int32_t block_width;      /* [0: the variant's own] */
    int32_t block_height;
    int threads;     /* [0: all] */
    uint64_t memory; /* bytes [0: half of what is free] */
    twi_progress_mode progress;

    /* many files */
    const char *files_from; /* a file's name [NULL] */
    const char *format;     /* an ending of file names, without the dot [NULL] */
    bool resume;

    /* bench, tune, explain: the image */
    int64_t image_width; /* [4096] */
    int64_t image_height;
    int64_t pitch;    /* bytes [0: a multiple of 256] */
    int32_t channels; /* [1] */
    tw_type to;       /* the result's type [TW_ELEMENT_COUNT: the image's] */

    const char *report; /* bench: a folder [NULL] */
    const char *svg;    /* explain: a file [NULL] */

    bool radius_given;
    bool size_given;
    bool anchor_given;
    bool border_given;
    bool shape_given;
    bool odd_pitch;
    bool graph;
    bool histogram;
    bool pinned;
    bool exclusive; /* scan */
    bool flat;
    bool list;
    bool json;
    bool quiet;
    bool man;
    bool help;

    uint64_t seed;          /* verify [1] */
    int64_t cases;          /* verify [100] */
    const char *completion; /* help: the shell [NULL] */

    bool given[TWI_MOST_OPTIONS]; /* which options of the table stood on the line */

    char message[1024]; /* what is wrong with the command line */
};

/* Parses argv[1] ... as a command and its options; the operands are moved to the front of argv, which is to live as
   long as `args`. TWI_EXIT_USAGE, with args->message, if it is wrong. */
twi_exit twi_args_parse(int argc, char **argv, twi_args *args);

/* The name of the figure 1 << index, as JSON has it; NULL at the end. */
const char *twi_figure_name(int index);

/* The command of that name, NULL if there is none. */
const twi_command *twi_find_command(const char *name);

/* What a word that is no command may have been meant for, by its letters or in other software; NULL if nothing. */
const char *twi_command_meant(const char *word);

/* The entry nearest to a mistyped word, NULL if none is near. `name(i)` gives word i, NULL ends the list. */
const char *twi_near(const char *word, const char *(*name)(size_t index, const void *data), const void *data);

#endif
