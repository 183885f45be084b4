/* TIFF tags: read from TIFF files and EXIF blocks, written for both. */
#include <stdlib.h>
#include <string.h>

#include "io/bytes.h"
#include "io/tags.h"

/* Bytes of a value, and of the numbers in it (a rational is two). 0: no such type. */
static const struct {
    uint8_t size;
    uint8_t unit;
} value_types[] = {[1] = {1, 1},  [2] = {1, 1},  [3] = {2, 2},  [4] = {4, 4},  [5] = {8, 4},  [6] = {1, 1},
                   [7] = {1, 1},  [8] = {2, 2},  [9] = {4, 4},  [10] = {8, 4}, [11] = {4, 4}, [12] = {8, 8},
                   [13] = {4, 4}, [16] = {8, 8}, [17] = {8, 8}, [18] = {8, 8}};

static size_t type_size(uint64_t type)
{
    return type < sizeof value_types / sizeof value_types[0] ? value_types[type].size : 0;
}

uint64_t twi_tag_bytes(const twi_tag *tag)
{
    return tag->count * type_size(tag->type);
}

const twi_tag *twi_tags_find(const twi_tags *tags, uint16_t id)
{
    for (size_t i = 0; i < tags->count; i++)
        if (tags->list[i].id == id)
            return &tags->list[i];
    return NULL;
}

uint64_t twi_tags_number(const twi_tags *tags, uint16_t id, size_t index, uint64_t otherwise)
{
    const twi_tag *tag = twi_tags_find(tags, id);
    if (!tag || index >= tag->count)
        return otherwise;
    if (tag->type != TWI_TAG_BYTE && tag->type != TWI_TAG_SHORT && tag->type != TWI_TAG_LONG &&
        tag->type != TWI_TAG_LONG8 && tag->type != TWI_TAG_IFD && tag->type != TWI_TAG_IFD8)
        return otherwise;
    const size_t size = type_size(tag->type);
    return twi_get(tag->data + index * size, size, false);
}

/* Takes `data` over, also on failure. */
static bool adopt(twi_tags *tags, uint16_t id, uint16_t type, uint64_t count, uint8_t *data)
{
    if (twi_tags_find(tags, id)) {
        free(data);
        return true;
    }
    twi_tag *larger = realloc(tags->list, (tags->count + 1) * sizeof *larger);
    if (!larger) {
        free(data);
        return false;
    }
    larger[tags->count] = (twi_tag){id, type, count, data};
    tags->list = larger;
    tags->count++;
    return true;
}

bool twi_tags_add(twi_tags *tags, uint16_t id, uint16_t type, uint64_t count, const void *data)
{
    const twi_tag tag = {id, type, count, NULL};
    const size_t bytes = (size_t)twi_tag_bytes(&tag);
    uint8_t *copy = malloc(bytes > 0 ? bytes : 1);
    if (!copy)
        return false;
    if (bytes > 0)
        memcpy(copy, data, bytes);
    return adopt(tags, id, type, count, copy);
}

bool twi_tags_add_number(twi_tags *tags, uint16_t id, uint16_t type, uint32_t value)
{
    uint8_t bytes[4];
    twi_put(bytes, type_size(type), false, value);
    return twi_tags_add(tags, id, type, 1, bytes);
}

void twi_tags_free(twi_tags *tags)
{
    for (size_t i = 0; i < tags->count; i++)
        free(tags->list[i].data);
    free(tags->list);
    *tags = (twi_tags){0};
}

void twi_directories_free(twi_directories *directories)
{
    twi_tags_free(&directories->image);
    twi_tags_free(&directories->exif);
    twi_tags_free(&directories->gps);
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* The most entries that are looked at, and the most of them that are kept in one directory. */
enum { MOST_ENTRIES = 65535, MOST_KEPT = 1024 };

typedef struct layout {
    bool big_endian;
    bool bigtiff;
    uint64_t left; /* bytes that values may still take: a file cannot hold more than itself */
} layout;

/* true and the first directory's offset, if the source begins like a TIFF file. */
static bool read_header(twi_source *source, layout *form, uint64_t *first)
{
    uint8_t head[16] = {0};
    const size_t got = twi_source_read_at(source, 0, head, sizeof head);
    if (got < 8 || head[0] != head[1] || (head[0] != 'I' && head[0] != 'M'))
        return false;
    form->big_endian = head[0] == 'M';
    const uint64_t version = twi_get(head + 2, 2, form->big_endian);
    form->bigtiff = version == 43;
    form->left = source->size;
    *first = form->bigtiff ? twi_get(head + 8, 8, form->big_endian) : twi_get(head + 4, 4, form->big_endian);
    return version == 42 || (version == 43 && got == sizeof head);
}

/* Keeps the tag of one entry, unless it is damaged. false: out of memory. */
static bool read_entry(twi_source *source, layout *form, const uint8_t *entry, twi_tags *tags)
{
    const size_t word = form->bigtiff ? 8 : 4;
    const uint16_t id = (uint16_t)twi_get(entry, 2, form->big_endian);
    const uint16_t type = (uint16_t)twi_get(entry + 2, 2, form->big_endian);
    const uint64_t count = twi_get(entry + 4, word, form->big_endian);
    const uint8_t *value = entry + 4 + word;
    const size_t size = type_size(type);
    if (size == 0 || count == 0 || count > form->left / size || tags->count == MOST_KEPT)
        return true;
    const size_t bytes = (size_t)count * size;
    uint8_t *data = malloc(bytes);
    if (!data)
        return false;
    if (bytes <= word) {
        memcpy(data, value, bytes);
    } else if (twi_source_read_at(source, twi_get(value, word, form->big_endian), data, bytes) < bytes) {
        free(data);
        return true;
    }
    form->left -= bytes;
    if (form->big_endian)
        twi_swap(data, bytes / value_types[type].unit, value_types[type].unit);
    return adopt(tags, id, type, count, data);
}

static bool read_directory(twi_source *source, layout *form, uint64_t offset, bool (*wanted)(uint16_t id),
                           twi_tags *tags)
{
    const size_t step = form->bigtiff ? 20 : 12;
    const size_t head = form->bigtiff ? 8 : 2;
    uint8_t entry[20];
    if (twi_source_read_at(source, offset, entry, head) < head)
        return true;
    uint64_t count = twi_get(entry, head, form->big_endian);
    if (count > MOST_ENTRIES)
        count = MOST_ENTRIES;
    offset += head;
    for (uint64_t i = 0; i < count; i++, offset += step) {
        if (twi_source_read_at(source, offset, entry, step) < step)
            break;
        if (wanted && !wanted((uint16_t)twi_get(entry, 2, form->big_endian)))
            continue;
        if (!read_entry(source, form, entry, tags))
            return false;
    }
    return true;
}

/* Its directory is not kept, so the pointer would lead nowhere. */
static bool is_kept_in_exif(uint16_t id)
{
    return id != TWI_TAG_INTEROPERABILITY;
}

bool twi_directories_read(twi_source *source, uint64_t offset, bool (*wanted)(uint16_t id), twi_directories *result)
{
    layout form;
    uint64_t first = 0;
    *result = (twi_directories){0};
    if (!read_header(source, &form, &first))
        return true;
    bool fine = read_directory(source, &form, offset > 0 ? offset : first, wanted, &result->image);
    const uint64_t exif = twi_tags_number(&result->image, TWI_TAG_EXIF, 0, 0);
    const uint64_t gps = twi_tags_number(&result->image, TWI_TAG_GPS, 0, 0);
    if (fine && exif > 0)
        fine = read_directory(source, &form, exif, is_kept_in_exif, &result->exif);
    if (fine && gps > 0)
        fine = read_directory(source, &form, gps, NULL, &result->gps);
    if (!fine)
        twi_directories_free(result);
    return fine;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static uint64_t padded(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static uint64_t directory_bytes(const twi_tags *tags, bool bigtiff)
{
    const uint64_t word = bigtiff ? 8 : 4;
    uint64_t bytes = bigtiff ? 8 + tags->count * 20 + 8 : 2 + tags->count * 12 + 4;
    if (tags->count == 0)
        return 0;
    bytes = padded(bytes, 8);
    for (size_t i = 0; i < tags->count; i++)
        if (twi_tag_bytes(&tags->list[i]) > word)
            bytes += padded(twi_tag_bytes(&tags->list[i]), 8);
    return bytes;
}

static int by_id(const void *a, const void *b)
{
    const twi_tag *left = a;
    const twi_tag *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

/* The directory at `offset` of the file that begins at `file`, its longer values behind it. */
static void write_directory(twi_tags *tags, bool bigtiff, uint64_t offset, uint8_t *file)
{
    const size_t word = bigtiff ? 8 : 4;
    const size_t step = bigtiff ? 20 : 12;
    uint8_t *entry = file + offset;
    if (tags->count == 0)
        return;
    qsort(tags->list, tags->count, sizeof tags->list[0], by_id);
    twi_put(entry, bigtiff ? 8 : 2, false, tags->count);
    entry += bigtiff ? 8 : 2;
    uint64_t values = offset + padded((bigtiff ? 16 : 6) + tags->count * step, 8);
    for (size_t i = 0; i < tags->count; i++, entry += step) {
        const twi_tag *tag = &tags->list[i];
        const size_t bytes = (size_t)twi_tag_bytes(tag);
        twi_put(entry, 2, false, tag->id);
        twi_put(entry + 2, 2, false, tag->type);
        twi_put(entry + 4, word, false, tag->count);
        if (bytes <= word) {
            memcpy(entry + 4 + word, tag->data, bytes);
        } else {
            twi_put(entry + 4 + word, word, false, values);
            memcpy(file + values, tag->data, bytes);
            values += padded(bytes, 8);
        }
    }
}

uint64_t twi_directories_bytes(const twi_directories *directories, bool bigtiff)
{
    return padded((bigtiff ? 16 : 8) + directory_bytes(&directories->image, bigtiff) +
                      directory_bytes(&directories->exif, bigtiff) + directory_bytes(&directories->gps, bigtiff),
                  16);
}

/* Sets a tag that points to a directory, if it is there: a LONG, or a LONG8 in a BigTIFF as large as that. */
static void point(twi_tags *tags, uint16_t id, uint64_t offset)
{
    const twi_tag *tag = twi_tags_find(tags, id);
    if (tag)
        twi_put(tag->data, type_size(tag->type), false, offset);
}

void twi_directories_write(twi_directories *directories, bool bigtiff, uint8_t *out)
{
    const uint64_t image = bigtiff ? 16 : 8;
    const uint64_t exif = image + directory_bytes(&directories->image, bigtiff);
    const uint64_t gps = exif + directory_bytes(&directories->exif, bigtiff);
    memset(out, 0, (size_t)twi_directories_bytes(directories, bigtiff));
    memcpy(out, "II", 2);
    twi_put(out + 2, 2, false, bigtiff ? 43 : 42);
    if (bigtiff)
        twi_put(out + 4, 2, false, 8);
    twi_put(out + (bigtiff ? 8 : 4), bigtiff ? 8 : 4, false, image);
    point(&directories->image, TWI_TAG_EXIF, exif);
    point(&directories->image, TWI_TAG_GPS, gps);
    write_directory(&directories->image, bigtiff, image, out);
    write_directory(&directories->exif, bigtiff, exif, out);
    write_directory(&directories->gps, bigtiff, gps, out);
}
