/* Memory: the bound, and what the process takes of it. */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>

#include "cli/memory.h"

/* The number behind `name` in a file of lines "name number kB", in bytes; 0 if there is none. */
static uint64_t find_bytes(const char *path, const char *name)
{
    char line[256];
    char form[64];
    uint64_t kilobytes = 0;
    FILE *file = fopen(path, "r");
    (void)snprintf(form, sizeof form, "%s %%" SCNu64, name);
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, form, &kilobytes) == 1)
            break;
    if (file)
        (void)fclose(file);
    return 1024 * kilobytes;
}

uint64_t twi_memory_limit(const twi_args *args)
{
    if (args->memory > 0)
        return args->memory;
    const uint64_t available = find_bytes("/proc/meminfo", "MemAvailable:");
    return available > 0 ? available / 2 : twi_memory_bound();
}

uint64_t twi_memory_held(void)
{
    return find_bytes("/proc/self/status", "VmRSS:");
}

uint64_t twi_memory_allocated(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
