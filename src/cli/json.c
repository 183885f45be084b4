/* JSON on stdout. */
#include <stdio.h>

#include "cli/json.h"

twi_exit twi_print_json(json_t *root)
{
    if (!root)
        return twi_complain(TWI_EXIT_MEMORY, "out of memory: the JSON text");
    (void)json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(7));
    putchar('\n');
    json_decref(root);
    return TWI_EXIT_DONE;
}
