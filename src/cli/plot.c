/* gnuplot as a child process: a script goes in, an SVG comes out. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/plot.h"

/* ---- The program --------------------------------------------------------------------------------- */

/* Starts `gnuplot ARGUMENT`, which reads `script` and writes to the file descriptors. 0, or the reason. */
static int start(const char *argument, FILE *script, int output, FILE *errors, pid_t *child)
{
    char name[] = "gnuplot";
    char option[32];
    char *const line[] = {name, option, NULL};
    posix_spawn_file_actions_t actions;
    (void)snprintf(option, sizeof option, "%s", argument);
    int reason = posix_spawn_file_actions_init(&actions);
    if (reason != 0)
        return reason;
    if ((reason = posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO)) == 0 &&
        (reason = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)) == 0 &&
        (reason = posix_spawn_file_actions_adddup2(&actions, fileno(errors), STDERR_FILENO)) == 0)
        reason = posix_spawnp(child, name, &actions, NULL, line, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return reason;
}

/* Whether it ended well. */
static bool succeeded(pid_t child)
{
    int state = 0;
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

static twi_exit missing(int reason)
{
    if (reason == ENOENT)
        return twi_complain(TWI_EXIT_USAGE, "--report: gnuplot draws its plots, and is not installed: 'apt-get install "
                                            "gnuplot-nox' on Debian and Ubuntu, or leave --report out");
    return twi_complain(TWI_EXIT_NO, "gnuplot cannot be started: %s", strerror(reason));
}

/* What it said on stderr, in one line. */
static twi_exit failed(FILE *errors)
{
    char text[400] = "";
    rewind(errors);
    size_t length = fread(text, 1, sizeof text - 1, errors);
    for (size_t i = 0; i < length; i++)
        text[i] = text[i] == '\n' ? ' ' : text[i];
    while (length > 0 && text[length - 1] == ' ')
        length--;
    text[length] = '\0';
    return twi_complain(TWI_EXIT_NO, "gnuplot failed: %s", length > 0 ? text + strspn(text, " ") : "it said nothing");
}

/* Runs it on the script, from its start; the output comes as a file. */
static twi_exit run(const char *argument, FILE *script, FILE *output)
{
    FILE *errors = tmpfile();
    pid_t child = 0;
    if (!errors)
        return twi_complain(TWI_EXIT_OUTPUT, "a temporary file cannot be made: %s", strerror(errno));
    const int reason = start(argument, script, fileno(output), errors, &child);
    twi_exit code = TWI_EXIT_DONE;
    if (reason != 0)
        code = missing(reason);
    else if (!succeeded(child))
        code = failed(errors);
    (void)fclose(errors);
    return code;
}

/* Runs `gnuplot ARGUMENT` with what `script` holds; *output is then all that it wrote, from its start. */
static twi_exit gnuplot(const char *argument, FILE *script, FILE **output)
{
    *output = tmpfile();
    if (!*output)
        return twi_complain(TWI_EXIT_OUTPUT, "a temporary file cannot be made: %s", strerror(errno));
    /* the child reads through the same open file */
    if (fflush(script) != 0 || lseek(fileno(script), 0, SEEK_SET) != 0)
        return twi_complain(TWI_EXIT_OUTPUT, "a temporary file cannot be written: %s", strerror(errno));
    return run(argument, script, *output);
}

twi_exit twi_plot_ready(void)
{
    FILE *script = tmpfile();
    FILE *output = NULL;
    if (!script)
        return twi_complain(TWI_EXIT_OUTPUT, "a temporary file cannot be made: %s", strerror(errno));
    const twi_exit code = gnuplot("--version", script, &output);
    (void)fclose(script);
    if (output)
        (void)fclose(output);
    return code;
}

/* ---- The script ---------------------------------------------------------------------------------- */

/* Told apart by most eyes, on white and on black (after Okabe and Ito), with a mark of its own each. */
static const struct {
    const char *colour;
    int mark;
} styles[] = {
    {"#0072b2", 7},  {"#d55e00", 5}, {"#009e73", 9}, {"#cc79a7", 13},
    {"#e69f00", 11}, {"#56b4e9", 6}, {"#8c6bb1", 4}, {"#b5651d", 8},
};

enum { STYLES = sizeof styles / sizeof styles[0] };

static double pixels(const tw_problem *size)
{
    return (double)size->width * (double)size->height;
}

/* How many times the largest point is the smallest. */
static double range_of(const twi_plot *plot)
{
    double least = HUGE_VAL;
    double most = 0;
    for (size_t i = 0; i < plot->series_count; i++)
        for (size_t j = 0; j < plot->count; j++) {
            const twi_spread *point = &plot->series[i].points[j];
            least = point->count > 0 ? fmin(least, point->smallest) : least;
            most = point->count > 0 ? fmax(most, point->largest) : most;
        }
    return most / least;
}

/* Gnuplot names the powers of ten: too few where there are two or three. */
static void write_more_tics(FILE *script)
{
    for (int power = -6; power <= 6; power++)
        (void)fprintf(script, "set ytics add ('%g' 2e%d, '%g' 5e%d)\n", 2 * pow(10, power), power, 5 * pow(10, power),
                      power);
}

static void write_axes(const twi_plot *plot, FILE *script)
{
    (void)fprintf(script,
                  "set terminal svg size 860,420 dynamic noenhanced font 'sans-serif,14' name '%s'\n"
                  "set border 3\n"
                  "set tics nomirror\n"
                  "set grid ytics\n"
                  "set key outside right top Left reverse samplen 3 spacing 1.2\n"
                  "set logscale x 2\n"
                  "set xlabel 'image size (logarithmic)'\n"
                  "set ylabel '%s'\n"
                  "set xrange [%.17g:%.17g]\n",
                  plot->name, plot->label, pixels(plot->sizes[0]) / 1.5, 1.5 * pixels(plot->sizes[plot->count - 1]));
    if (plot->logarithmic && range_of(plot) < 300)
        write_more_tics(script);
    (void)fputs(plot->logarithmic ? "set logscale y\nset format y '%g'\n"
                                  : "set yrange [0:*]\nset offsets 0, 0, graph 0.05, 0\n",
                script);
    for (size_t i = 0; i < plot->count; i++)
        (void)fprintf(script, "set xtics %s('%" PRId64 "x%" PRId64 "' %.17g) font ',12'\n", i > 0 ? "add " : "",
                      plot->sizes[i]->width, plot->sizes[i]->height, pixels(plot->sizes[i]));
}

/* The series stand a little apart, so that bars of one size do not hide each other. */
static double shifted(const twi_plot *plot, size_t index, double x)
{
    return x * exp2(0.06 * ((double)index - 0.5 * (double)(plot->series_count - 1)));
}

static void write_data(const twi_plot *plot, size_t index, FILE *script)
{
    (void)fprintf(script, "$series%zu << end\n", index);
    for (size_t i = 0; i < plot->count; i++) {
        const twi_spread *point = &plot->series[index].points[i];
        if (point->count > 0)
            (void)fprintf(script, "%.9g %.9g %.9g %.9g\n", shifted(plot, index, pixels(plot->sizes[i])), point->median,
                          point->smallest, point->largest);
    }
    (void)fputs("end\n", script);
}

/* Bars without marks, then the line with its marks and its name. */
static void write_series(const twi_plot *plot, size_t index, FILE *script)
{
    const twi_series *series = &plot->series[index];
    const char *colour = series->dashed ? "#808080" : styles[series->colour % STYLES].colour;
    (void)fprintf(script,
                  "%s$series%zu using 1:3:(0):($4-$3) with vectors nohead linecolor rgb '%s' linewidth 1.5 notitle",
                  index > 0 ? ", " : "plot ", index, colour);
    (void)fprintf(script, ", $series%zu using 1:2 with linespoints linecolor rgb '%s' linewidth 2 ", index, colour);
    if (series->dashed)
        (void)fputs("dashtype 2 pointtype 2 pointsize 0.6", script);
    else /* dotted where the colours begin again */
        (void)fprintf(script, "dashtype %d pointtype %d pointsize 0.8", series->colour < STYLES ? 1 : 3,
                      styles[series->colour % STYLES].mark);
    (void)fprintf(script, " title '%s'", series->name);
}

static void write_script(const twi_plot *plot, FILE *script)
{
    write_axes(plot, script);
    for (size_t i = 0; i < plot->series_count; i++)
        write_data(plot, i, script);
    for (size_t i = 0; i < plot->series_count; i++)
        write_series(plot, i, script);
    (void)fputs("\n", script);
}

/* ---- The picture --------------------------------------------------------------------------------- */

/* The file's text; the caller frees it. NULL: no memory. */
static char *text_of(FILE *file)
{
    char *text = NULL;
    const off_t size = lseek(fileno(file), 0, SEEK_END);
    if (size >= 0 && lseek(fileno(file), 0, SEEK_SET) == 0)
        text = malloc((size_t)size + 1);
    if (text)
        text[fread(text, 1, (size_t)size, file)] = '\0';
    return text;
}

/* Copies the element alone, without what comes before it in a file of its own, and without marks that are defined. */
static twi_exit take_element(const char *svg, bool first, FILE *page)
{
    const char *element = strstr(svg, "<svg");
    const char *marks = element ? strstr(element, "<defs>") : NULL;
    const char *rest = marks ? strstr(marks, "</defs>") : NULL;
    if (!rest)
        return twi_complain(TWI_EXIT_NO, "gnuplot gave no SVG: this version is not known");
    if (!first)
        (void)fwrite(element, 1, (size_t)(marks - element), page);
    (void)fputs(first ? element : rest + strlen("</defs>"), page);
    return TWI_EXIT_DONE;
}

twi_exit twi_plot_draw(const twi_plot *plot, bool first, FILE *page)
{
    FILE *script = tmpfile();
    FILE *output = NULL;
    if (!script)
        return twi_complain(TWI_EXIT_OUTPUT, "a temporary file cannot be made: %s", strerror(errno));
    write_script(plot, script);
    twi_exit code = gnuplot("-d", script, &output); /* -d: without the user's own settings */
    (void)fclose(script);
    char *svg = code == TWI_EXIT_DONE ? text_of(output) : NULL;
    if (output)
        (void)fclose(output);
    if (code == TWI_EXIT_DONE)
        code = svg ? take_element(svg, first, page) : twi_complain(TWI_EXIT_MEMORY, "out of memory: a plot");
    free(svg);
    return code;
}
