/* Memory: the bound, and what the process takes of it. */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/memory.h"

/* For what grows beside the bands. */
static const uint64_t reserve = (uint64_t)8 << 20;

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

static uint64_t physical_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}

uint64_t twi_memory_limit(const twi_args *args)
{
    if (args->memory > 0)
        return args->memory;
    const uint64_t available = find_bytes("/proc/meminfo", "MemAvailable:");
    return (available > 0 ? available : physical_bytes()) / 2;
}

uint64_t twi_memory_for_bands(const twi_args *args)
{
    const uint64_t bound = twi_memory_limit(args);
    const uint64_t held = find_bytes("/proc/self/status", "VmRSS:") + reserve;
    /* a bound that the program itself hardly keeps is one of the bands' */
    return bound > 2 * held ? bound - held : bound / 2;
}

void twi_memory_give_back(void)
{
    (void)malloc_trim(0);
}

uint64_t twi_memory_allocated(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
