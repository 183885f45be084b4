/* Gives every file of the folders named as arguments to a fuzzer's entry, without a fuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    const size_t size = fread(data, 1, sizeof data, file);
    (void)fclose(file);
    /* a copy of exactly that size: a sanitizer sees a read past the end */
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (!copy)
        return 1;
    for (size_t i = 0; i < size; i++)
        copy[i] = data[i];
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    return 0;
}

static int replay_folder(const char *folder, int *count)
{
    DIR *directory = opendir(folder);
    int failures = 0;
    if (!directory) {
        perror(folder);
        return 1;
    }
    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        failures += replay_file(path);
        ++*count;
    }
    (void)closedir(directory);
    return failures;
}

int main(int argc, char **argv)
{
    int failures = 0;
    int count = 0;
    for (int i = 1; i < argc; i++)
        failures += replay_folder(argv[i], &count);
    printf("%d inputs replayed, %d unreadable\n", count, failures);
    return failures > 0 || count == 0;
}
