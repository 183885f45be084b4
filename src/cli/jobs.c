/* From operands, patterns and lists to jobs. */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/jobs.h"
#include "cli/wisdom.h"

enum { MOST_LIST_BYTES = 1 << 28 };

/* ---- What the line says ---------------------------------------------------------------------------- */

static bool has_output(const twi_args *args)
{
    return args->command != &twi_commands[TWI_STATS];
}

static int input_count(const twi_args *args)
{
    return args->operand_count - (has_output(args) ? 1 : 0);
}

static const char *output_of(const twi_args *args)
{
    return has_output(args) ? args->operands[args->operand_count - 1] : NULL;
}

/* A word of that kind that is no file's name itself. */
static bool is_pattern(const char *word)
{
    struct stat facts;
    return strpbrk(word, "*?[") && lstat(word, &facts) != 0;
}

static bool is_one_file(const twi_args *args)
{
    return !args->files_from && input_count(args) == 1 && !is_pattern(args->operands[0]);
}

static bool ends_in_slash(const char *path)
{
    return path[0] != '\0' && path[strlen(path) - 1] == '/';
}

bool twi_jobs_to_folder(const twi_args *args)
{
    return !is_one_file(args) || ends_in_slash(output_of(args));
}

bool twi_jobs_asked(const twi_args *args)
{
    return !is_one_file(args) || (has_output(args) && (twi_jobs_to_folder(args) || args->resume || args->json));
}

/* ---- Inputs ---------------------------------------------------------------------------------------- */

static twi_exit no_memory(void)
{
    return twi_complain(TWI_EXIT_MEMORY, "out of memory: the list of files");
}

/* `size`: what the list has room for. */
static twi_exit add(twi_jobs *jobs, size_t *size, const char *name)
{
    if (jobs->count == *size) {
        const size_t larger = *size > 0 ? 2 * *size : 64;
        twi_job *list = realloc(jobs->list, larger * sizeof *list);
        if (!list)
            return no_memory();
        jobs->list = list;
        *size = larger;
    }
    char *from = strdup(name);
    if (!from)
        return no_memory();
    jobs->list[jobs->count++] = (twi_job){.from = from};
    return TWI_EXIT_DONE;
}

/* A name that a pattern or a list gave: of a file, whatever it looks like. */
static twi_exit add_found(twi_jobs *jobs, size_t *size, const char *name)
{
    return add(jobs, size, strcmp(name, "-") == 0 ? "./-" : name);
}

/* The files that the pattern matches, in the order of their names; folders are left out. */
static twi_exit add_matches(twi_jobs *jobs, size_t *size, const char *pattern)
{
    glob_t found = {0};
    twi_exit result = TWI_EXIT_DONE;
    const size_t before = jobs->count;
    const int failure = glob(pattern, GLOB_MARK, NULL, &found);
    if (failure == GLOB_NOSPACE)
        result = no_memory();
    for (size_t i = 0; failure == 0 && result == TWI_EXIT_DONE && i < found.gl_pathc; i++)
        if (!ends_in_slash(found.gl_pathv[i]))
            result = add_found(jobs, size, found.gl_pathv[i]);
    globfree(&found);
    if (result == TWI_EXIT_DONE && jobs->count == before)
        return twi_complain(TWI_EXIT_INPUT, "'%s' matches no file", pattern);
    return result;
}

static twi_exit add_listed(twi_jobs *jobs, size_t *size, const char *path)
{
    char *text = NULL;
    size_t length = 0;
    twi_exit result = TWI_EXIT_DONE;
    const twi_io_status status = twi_io_read_bytes(path, MOST_LIST_BYTES, &text, &length);
    if (status != TWI_IO_OK)
        return twi_complain_option("files-from", status);
    if (strlen(text) == length) /* no NULs: a name a line */
        for (char *at = text; (at = strchr(at, '\n')) != NULL;)
            *at++ = '\0';
    for (const char *name = text; name < text + length && result == TWI_EXIT_DONE; name += strlen(name) + 1)
        if (name[0] != '\0')
            result = add_found(jobs, size, name);
    free(text);
    return result;
}

static twi_exit gather(const twi_args *args, twi_jobs *jobs)
{
    size_t size = 0;
    twi_exit result = TWI_EXIT_DONE;
    for (int i = 0; i < input_count(args) && result == TWI_EXIT_DONE; i++) {
        const char *word = args->operands[i];
        if (strcmp(word, "-") == 0 && (!is_one_file(args) || !has_output(args) || twi_jobs_to_folder(args)))
            result =
                twi_complain(TWI_EXIT_USAGE, "'-' is stdin, which has no name: give it alone, and an output's name");
        else
            result = is_pattern(word) ? add_matches(jobs, &size, word) : add(jobs, &size, word);
    }
    if (result == TWI_EXIT_DONE && args->files_from)
        result = add_listed(jobs, &size, args->files_from);
    return result;
}

/* ---- Outputs --------------------------------------------------------------------------------------- */

/* The input's name in the folder, its ending replaced by --format. NULL: out of memory. */
static char *name_in(const char *folder, const char *from, const char *format)
{
    size_t end = strlen(from);
    while (end > 0 && from[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && from[begin - 1] != '/')
        begin--;
    size_t dot = end;
    while (dot > begin && from[dot] != '.')
        dot--;
    if (format && dot > begin) /* a name that begins with its only dot has no ending */
        end = dot;
    const size_t size = strlen(folder) + 1 + (end - begin) + 8;
    char *name = malloc(size);
    if (name)
        (void)snprintf(name, size, "%s%s%.*s%s%s", folder, ends_in_slash(folder) ? "" : "/", (int)(end - begin),
                       from + begin, format ? "." : "", format ? format : "");
    return name;
}

static int by_output(const void *a, const void *b)
{
    return strcmp((*(twi_job *const *)a)->to, (*(twi_job *const *)b)->to);
}

static twi_exit check_names(const twi_jobs *jobs)
{
    twi_exit result = TWI_EXIT_DONE;
    twi_job **sorted = malloc((jobs->count + 1) * sizeof(twi_job *));
    if (!sorted)
        return no_memory();
    for (size_t i = 0; i < jobs->count; i++)
        sorted[i] = &jobs->list[i];
    qsort(sorted, jobs->count, sizeof(twi_job *), by_output);
    for (size_t i = 1; i < jobs->count && result == TWI_EXIT_DONE; i++)
        if (by_output(&sorted[i - 1], &sorted[i]) == 0)
            result = twi_complain(TWI_EXIT_USAGE, "'%s' and '%s' would both become '%s': nothing was done",
                                  sorted[i - 1]->from, sorted[i]->from, sorted[i]->to);
    free(sorted);
    return result;
}

static twi_exit check_folder(const char *folder)
{
    struct stat facts;
    if (strcmp(folder, "-") == 0)
        return twi_complain(TWI_EXIT_USAGE, "output '-' is stdout, which takes one file: name a folder");
    if (stat(folder, &facts) == 0)
        return S_ISDIR(facts.st_mode)
                   ? TWI_EXIT_DONE
                   : twi_complain(TWI_EXIT_USAGE, "'%s' is no folder: several files need one to be written to", folder);
    if (errno == ENOENT && ends_in_slash(folder))
        return twi_make_folders(folder);
    if (errno == ENOENT)
        return twi_complain(TWI_EXIT_USAGE, "'%s' is no folder: with a '/' at its end, it is made", folder);
    return twi_complain(TWI_EXIT_OUTPUT, "folder '%s' cannot be used: %s", folder, strerror(errno));
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* An output that is there: may the work be skipped, and is it another file than the input? */
static twi_exit compare(const twi_args *args, twi_job *job)
{
    struct stat in;
    struct stat out;
    if (stat(job->from, &in) != 0 || stat(job->to, &out) != 0)
        return TWI_EXIT_DONE;
    if (twi_jobs_to_folder(args) && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
        return twi_complain(TWI_EXIT_USAGE, "'%s' would become '%s', which is the same file: nothing was done",
                            job->from, job->to);
    job->skipped = args->resume && S_ISREG(out.st_mode) && is_newer(&out, &in);
    return TWI_EXIT_DONE;
}

static twi_exit name_outputs(const twi_args *args, twi_jobs *jobs)
{
    const char *output = output_of(args);
    twi_exit result = TWI_EXIT_DONE;
    if (args->json && strcmp(output, "-") == 0)
        return twi_complain(TWI_EXIT_USAGE, "output '-' and --json are both for stdout: name a file");
    for (size_t i = 0; i < jobs->count; i++) {
        twi_job *job = &jobs->list[i];
        job->to = twi_jobs_to_folder(args) ? name_in(output, job->from, args->format) : strdup(output);
        if (!job->to)
            return no_memory();
    }
    result = check_names(jobs);
    for (size_t i = 0; i < jobs->count && result == TWI_EXIT_DONE; i++)
        result = compare(args, &jobs->list[i]);
    return result == TWI_EXIT_DONE && twi_jobs_to_folder(args) ? check_folder(output) : result;
}

/* ---- All ------------------------------------------------------------------------------------------- */

twi_exit twi_jobs_plan(const twi_args *args, twi_jobs *jobs)
{
    *jobs = (twi_jobs){0};
    const twi_exit result = gather(args, jobs);
    return result == TWI_EXIT_DONE && has_output(args) ? name_outputs(args, jobs) : result;
}

void twi_jobs_free(twi_jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++) {
        free(jobs->list[i].from);
        free(jobs->list[i].to);
    }
    free(jobs->list);
    *jobs = (twi_jobs){0};
}
