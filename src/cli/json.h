/* What commands share that print JSON. */
#ifndef TWI_JSON_H
#define TWI_JSON_H

#include <jansson.h>

#include "cli/cli.h"

/* Prints the object and frees it; NULL is an object that found no memory. */
twi_exit twi_print_json(json_t *root);
/* The same with all digits of its numbers. */
twi_exit twi_print_json_exact(json_t *root);

/* A file's name, or words that hold one, as a string: bytes that are no UTF-8 become U+FFFD. */
json_t *twi_json_name(const char *name);

#endif
