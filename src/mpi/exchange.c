/*
 * Pixels that change places. Who has what and who needs what is known to all, so each rank finds the messages that it
 * sends and those that it gets by itself: the same rectangles, in the same order. One message a peer, or as many as its
 * bytes need: sends and receives that are tagged and all posted at once. (Open MPI 4.1's MPI_Ineighbor_alltoallw on a
 * Cartesian communicator confuses the two sides of a periodic axis of one or two ranks.)
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/ranks.h"

/* Rows of a message as they lie in memory. */
typedef struct block {
    char *data;
    int64_t pitch;
    int64_t bytes; /* of a row */
    int64_t rows;
} block;

typedef struct message {
    int peer;
    int tag;
    bool send;
    int64_t bytes;
    int first; /* its blocks */
    int count;
} message;

typedef struct list {
    const tw_mpi *mpi;
    int64_t pixel;
    message *messages;
    int message_count;
    int message_room;
    block *blocks;
    int block_count;
    int block_room;
} list;

static twi_rect meet(twi_rect a, twi_rect b)
{
    const int64_t left = a.x > b.x ? a.x : b.x;
    const int64_t top = a.y > b.y ? a.y : b.y;
    const int64_t right = a.x + a.width < b.x + b.width ? a.x + a.width : b.x + b.width;
    const int64_t bottom = a.y + a.height < b.y + b.height ? a.y + a.height : b.y + b.height;
    const twi_rect common = {left, top, right > left ? right - left : 0, bottom > top ? bottom - top : 0};
    return common;
}

static bool is_empty(twi_rect rect)
{
    return rect.width <= 0 || rect.height <= 0;
}

static char *address(const twi_place *place, int64_t pixel, int64_t x, int64_t y)
{
    return place->data + (y - place->rect.y) * place->pitch + (x - place->rect.x) * pixel;
}

/* Room for one more; false: out of memory. */
static bool grow(void **memory, int *room, int count, size_t size)
{
    if (count < *room)
        return true;
    const int wider = *room > 0 ? 2 * *room : 16;
    void *moved = realloc(*memory, (size_t)wider * size);
    if (!moved)
        return false;
    *memory = moved;
    *room = wider;
    return true;
}

static tw_status no_memory(void)
{
    return twi_mpi_fail(TW_ERROR_MEMORY, "out of memory: the list of messages between ranks");
}

/* The message that has room for a row of so many bytes: the last one of this pair, or a new one. */
static tw_status open_message(list *l, int peer, bool send, int64_t row, message **result)
{
    message *last = l->message_count > 0 ? &l->messages[l->message_count - 1] : NULL;
    const bool same = last && last->peer == peer && last->send == send;
    if (same && last->bytes + row <= l->mpi->most_bytes) {
        *result = last;
        return TW_OK;
    }
    const int tag = same ? last->tag + 1 : 0;
    if (!grow((void **)&l->messages, &l->message_room, l->message_count, sizeof *l->messages) || !l->messages)
        return no_memory();
    *result = &l->messages[l->message_count++];
    **result = (message){.peer = peer, .tag = tag, .send = send, .first = l->block_count};
    return TW_OK;
}

/* The rows of a rectangle that lies at `data`, in one message or more. */
static tw_status add_rows(list *l, int peer, bool send, block rows)
{
    if (rows.bytes > INT_MAX)
        return twi_mpi_fail(TW_ERROR_LIMIT, "rows of %" PRId64 " bytes: between ranks %d are the most", rows.bytes,
                            INT_MAX);
    while (rows.rows > 0) {
        message *to = NULL;
        TWI_MPI_TRY(open_message(l, peer, send, rows.bytes, &to));
        const int64_t fit = (l->mpi->most_bytes - to->bytes) / rows.bytes;
        block part = rows;
        part.rows = fit < 1 ? 1 : fit < rows.rows ? fit : rows.rows;
        if (!grow((void **)&l->blocks, &l->block_room, l->block_count, sizeof *l->blocks))
            return no_memory();
        l->blocks[l->block_count++] = part;
        to->count++;
        to->bytes += part.rows * part.bytes;
        rows.data += part.rows * part.pitch;
        rows.rows -= part.rows;
    }
    return TW_OK;
}

/* What passes from the rank that has `from` to the one with these needs; this rank is one of the two. */
static tw_status list_pair(list *l, int peer, bool send, const twi_place *from, const twi_needs *needs)
{
    for (int i = 0; i < needs->count; i++) {
        const twi_place *to = &needs->list[i];
        const twi_rect common = meet(from->rect, to->rect);
        if (is_empty(common))
            continue;
        const twi_place *mine = send ? from : to;
        const block rows = {address(mine, l->pixel, common.x, common.y), mine->pitch, common.width * l->pixel,
                            common.height};
        TWI_MPI_TRY(add_rows(l, peer, send, rows));
    }
    return TW_OK;
}

static tw_status list_all(list *l, const twi_place *have, const twi_needs *needs)
{
    const int me = l->mpi->rank;
    for (int peer = 0; peer < l->mpi->size; peer++) {
        if (peer == me)
            continue;
        TWI_MPI_TRY(list_pair(l, peer, false, &have[peer], &needs[me]));
        TWI_MPI_TRY(list_pair(l, peer, true, &have[me], &needs[peer]));
    }
    return TW_OK;
}

/* What this rank has itself. */
static void copy_own(int64_t pixel, const twi_place *from, const twi_needs *needs)
{
    for (int i = 0; i < needs->count; i++) {
        const twi_place *to = &needs->list[i];
        const twi_rect common = meet(from->rect, to->rect);
        for (int64_t y = common.y; !is_empty(common) && y < common.y + common.height; y++)
            memmove(address(to, pixel, common.x, y), address(from, pixel, common.x, y), (size_t)(common.width * pixel));
    }
}

/* ---- MPI -------------------------------------------------------------------------------------------------- */

/* A type that is the message's bytes at their addresses. */
static MPI_Datatype type_of(const block *blocks, int count, MPI_Datatype *types, MPI_Aint *places, int *ones)
{
    MPI_Datatype whole;
    for (int i = 0; i < count; i++) {
        (void)MPI_Get_address(blocks[i].data, &places[i]);
        (void)MPI_Type_create_hvector((int)blocks[i].rows, (int)blocks[i].bytes, (MPI_Aint)blocks[i].pitch, MPI_BYTE,
                                      &types[i]);
        ones[i] = 1;
    }
    (void)MPI_Type_create_struct(count, ones, places, types, &whole);
    (void)MPI_Type_commit(&whole);
    for (int i = 0; i < count; i++)
        (void)MPI_Type_free(&types[i]);
    return whole;
}

/* Receives before sends, so that what arrives has its place. */
static void post(const list *l, bool send, MPI_Datatype *types, MPI_Aint *places, int *ones, twi_exchange *exchange)
{
    for (int i = 0; i < l->message_count; i++) {
        const message *m = &l->messages[i];
        if (m->send != send)
            continue;
        MPI_Datatype type = type_of(&l->blocks[m->first], m->count, types, places, ones);
        MPI_Request *request = &exchange->requests[exchange->count++];
        if (send)
            (void)MPI_Isend(MPI_BOTTOM, 1, type, m->peer, m->tag, l->mpi->communicator, request);
        else
            (void)MPI_Irecv(MPI_BOTTOM, 1, type, m->peer, m->tag, l->mpi->communicator, request);
        (void)MPI_Type_free(&type); /* it lives until the message has passed */
    }
}

tw_status twi_exchange_start(const tw_mpi *mpi, int64_t pixel_bytes, const twi_place *have, const twi_needs *needs,
                             twi_exchange *exchange)
{
    list l = {.mpi = mpi, .pixel = pixel_bytes};
    *exchange = (twi_exchange){0};
    tw_status status = list_all(&l, have, needs);
    MPI_Datatype *types = calloc((size_t)l.block_count + 1, sizeof *types);
    MPI_Aint *places = calloc((size_t)l.block_count + 1, sizeof *places);
    int *ones = calloc((size_t)l.block_count + 1, sizeof *ones);
    exchange->requests = calloc((size_t)l.message_count + 1, sizeof *exchange->requests);
    if (status == TW_OK && (!types || !places || !ones || !exchange->requests))
        status = no_memory();
    status = twi_mpi_agree(mpi, status); /* before the first message: nobody waits for one that will not come */
    if (status == TW_OK) {
        post(&l, false, types, places, ones, exchange);
        post(&l, true, types, places, ones, exchange);
        copy_own(pixel_bytes, &have[mpi->rank], &needs[mpi->rank]);
    } else {
        free(exchange->requests);
        exchange->requests = NULL;
    }
    free(types);
    free(places);
    free(ones);
    free(l.messages);
    free(l.blocks);
    return status;
}

void twi_exchange_finish(twi_exchange *exchange)
{
    (void)MPI_Waitall(exchange->count, exchange->requests, MPI_STATUSES_IGNORE);
    free(exchange->requests);
    *exchange = (twi_exchange){0};
}

/* ---- From one cut to another -------------------------------------------------------------------------------- */

twi_cut twi_cut_rows(int64_t width, int64_t height)
{
    const twi_cut cut = {.kind = TWI_CUT_ROWS, .whole = {0, 0, width, height}};
    return cut;
}

twi_rect twi_cut_part(const tw_mpi *mpi, const twi_cut *cut, int rank)
{
    static const twi_rect none = {0, 0, 0, 0};
    const bool columns = cut->kind == TWI_CUT_COLUMNS;
    const int64_t length = columns ? cut->whole.width : cut->whole.height;
    twi_rect part = cut->whole;
    int64_t first = 0;
    int64_t last = 0;
    if (cut->kind == TWI_CUT_NONE)
        return rank == cut->owner ? part : none;
    if (cut->kind == TWI_CUT_LIST)
        return cut->list[rank];
    tw_mpi_rows(mpi, length, rank, &first, &last);
    const int64_t begin = cut->backward ? length - last : first;
    if (columns) {
        part.x += begin;
        part.width = last - first;
    } else {
        part.y += begin;
        part.height = last - first;
    }
    return part;
}

tw_status twi_move(const tw_mpi *mpi, int64_t pixel_bytes, const twi_cut *from, const tw_image *from_image,
                   const twi_cut *to, const tw_image *to_image)
{
    void *memory[3] = {NULL, NULL, NULL};
    twi_exchange exchange;
    tw_status status = twi_mpi_table(mpi, sizeof(twi_place), &memory[0]);
    if (status == TW_OK)
        status = twi_mpi_table(mpi, sizeof(twi_place), &memory[1]);
    if (status == TW_OK)
        status = twi_mpi_table(mpi, sizeof(twi_needs), &memory[2]);
    status = twi_mpi_agree(mpi, status);
    if (status == TW_OK) {
        twi_place *have = memory[0];
        twi_place *places = memory[1];
        twi_needs *needs = memory[2];
        for (int rank = 0; rank < mpi->size; rank++) {
            have[rank] = (twi_place){twi_cut_part(mpi, from, rank), from_image->data, from_image->pitch};
            places[rank] = (twi_place){twi_cut_part(mpi, to, rank), to_image->data, to_image->pitch};
            needs[rank] = (twi_needs){&places[rank], 1};
        }
        status = twi_exchange_start(mpi, pixel_bytes, have, needs, &exchange);
        if (status == TW_OK)
            twi_exchange_finish(&exchange);
    }
    for (int i = 0; i < 3; i++)
        free(memory[i]);
    return status;
}
