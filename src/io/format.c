/* The table of formats: which one a file's content is, and which one a name asks for. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "io/metadata.h"

/* Adding a format is its file and its row here. */
static const twi_format *const formats[] = {
    &twi_format_png, &twi_format_jpeg, &twi_format_tiff, &twi_format_pnm, &twi_format_npy,
};

enum { FORMATS = sizeof formats / sizeof formats[0] };

/* Adds to a list of words: "a", "a, b". */
static void add_word(char *text, size_t size, const char *word, const char *separator)
{
    const size_t length = strlen(text);
    (void)snprintf(text + length, size - length, "%s%s", length > 0 ? separator : "", word);
}

const twi_format *twi_format_of(const uint8_t *head, size_t count)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->sniff(head, count))
            return formats[i];
    return NULL;
}

void twi_format_titles(char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < FORMATS; i++)
        add_word(text, size, formats[i]->title, ", ");
}

/* The format that has this ending or name; *ending becomes its own spelling of it. */
static const twi_format *find_format(const char **ending)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcasecmp(formats[i]->name, *ending) == 0) {
            *ending = formats[i]->name;
            return formats[i];
        }
        for (const char *const *known = formats[i]->endings; *known; known++) {
            if (strcasecmp(*known, *ending) == 0) {
                *ending = *known;
                return formats[i];
            }
        }
    }
    return NULL;
}

/* All endings, or those that can hold such an image (type below TW_ELEMENT_COUNT). */
static void list_endings(char *text, size_t size, tw_type type, int32_t channels)
{
    text[0] = '\0';
    for (size_t i = 0; i < FORMATS; i++) {
        for (const char *const *known = formats[i]->endings; *known; known++) {
            char word[16];
            if (type != TW_ELEMENT_COUNT && !formats[i]->can_hold(*known, type, channels))
                continue;
            (void)snprintf(word, sizeof word, ".%s", *known);
            add_word(text, size, word, " ");
        }
    }
}

twi_io_status twi_format_choose(const char *path, const char *stdout_format, tw_type type, int32_t channels,
                                const twi_format **format)
{
    char known[128];
    const bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "stdout" : path;
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    const char *ending = standard ? stdout_format : dot ? dot + 1 : "";
    *format = find_format(&ending);
    if (!*format) {
        list_endings(known, sizeof known, TW_ELEMENT_COUNT, 0);
        return twi_io_fail(TWI_IO_USAGE, name, "%s\"%s\" names no format: use one of %s", standard ? "" : "its ending ",
                           ending, known);
    }
    if (!(*format)->can_hold(ending, type, channels)) {
        list_endings(known, sizeof known, type, channels);
        return twi_io_fail(TWI_IO_USAGE, name, "a %s%s file cannot hold %d channel%s of %s: use one of %s",
                           standard ? "" : ".", ending, (int)channels, channels == 1 ? "" : "s", tw_type_name(type),
                           known);
    }
    return TWI_IO_OK;
}

twi_io_status twi_io_can_write(const char *path, const char *stdout_format, tw_type type, int32_t channels)
{
    const twi_format *format;
    TWI_IO_TRY(twi_format_choose(path, stdout_format, type, channels, &format));
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
        return twi_io_fail(TWI_IO_USAGE, "stdout", "is a terminal: an image is written to a file or a pipe");
    return TWI_IO_OK;
}

const char *twi_format_lost(const char *name, const twi_format *format, unsigned kinds)
{
    static const char *const words[TWI_KINDS] = {"ICC profile", "EXIF",        "XMP",
                                                 "resolution",  "orientation", "georeference and NoData"};
    static _Thread_local char text[4608];
    char list[96] = "";
    if (kinds == 0)
        return "";
    for (unsigned i = 0; i < TWI_KINDS; i++)
        if (kinds & 1U << i)
            add_word(list, sizeof list, words[i], ", ");
    (void)snprintf(text, sizeof text, "%s: left out, since %s cannot hold it: %s", name, format->title, list);
    return text;
}
