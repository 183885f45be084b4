/* JSON on stdout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"

static twi_exit print(json_t *root, size_t digits)
{
    if (!root)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: the JSON text");
    (void)json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(digits));
    putchar('\n');
    json_decref(root);
    return TWI_EXIT_DONE;
}

twi_exit twi_print_json(json_t *root)
{
    return print(root, 7);
}

twi_exit twi_print_json_exact(json_t *root)
{
    return print(root, 17);
}

/* Bytes of the character that `text` begins with; 0 if it is none in UTF-8. */
static size_t character(const char *text)
{
    for (size_t size = 1; size <= 4 && (size == 1 || text[size - 1] != '\0'); size++) {
        json_t *string = json_stringn(text, size);
        json_decref(string);
        if (string)
            return size;
    }
    return 0;
}

json_t *twi_json_name(const char *name)
{
    static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */
    json_t *string = json_string(name);
    char *text = string ? NULL : malloc(3 * strlen(name) + 1);
    char *end = text;
    if (!text)
        return string;
    while (*name) {
        const size_t size = character(name);
        memcpy(end, size > 0 ? name : replacement, size > 0 ? size : sizeof replacement - 1);
        end += size > 0 ? size : sizeof replacement - 1;
        name += size > 0 ? size : 1;
    }
    string = json_stringn(text, (size_t)(end - text));
    free(text);
    return string;
}
