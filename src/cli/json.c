/* JSON on stdout. */
#include <stdio.h>

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
