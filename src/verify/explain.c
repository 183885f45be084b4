/* Follows the declared accesses of a kernel, warp by warp, and counts what memory is asked for. */
#include <string.h>

#include "verify/explain.h"

enum { MOST_THREADS = 1024 };

/* Addresses that are followed at most, some seconds, and that all blocks may ask for, of four words each. */
static const double most_addresses = 2e9;
static const double most_in_all = 2e18;

/* ---- One request --------------------------------------------------------------------------------- */

/* Whether the value is among the first `count`; it is added if not. */
static bool is_known(int64_t value, int64_t *values, int *count)
{
    for (int i = *count - 1; i >= 0; i--)
        if (values[i] == value)
            return true;
    values[(*count)++] = value;
    return false;
}

/* Different pieces of `size` bytes that the lanes from `first` to `last` ask for. */
static int count_pieces(const int64_t *address, int first, int last, int32_t bytes, int32_t size)
{
    int64_t pieces[TWI_WARP * 4]; /* at most 16 bytes of a lane, 4-byte words */
    int count = 0;
    for (int lane = first; lane < last; lane++)
        for (int64_t at = address[lane]; address[lane] >= 0 && at < address[lane] + bytes; at += size)
            (void)is_known(at / size, pieces, &count);
    return count;
}

int twi_count_sectors(const int64_t address[TWI_WARP], int32_t bytes)
{
    return count_pieces(address, 0, TWI_WARP, bytes, TWI_SECTOR);
}

/* Sectors of additions to global memory: lanes that ask for one address take turns, and each turn has its own. */
static int count_turns(const int64_t address[TWI_WARP])
{
    int turn[TWI_WARP];
    int sectors = 0;
    for (int lane = 0; lane < TWI_WARP; lane++) {
        bool first = address[lane] >= 0; /* of its turn in its sector */
        turn[lane] = 0;
        for (int other = 0; other < lane && address[lane] >= 0; other++)
            turn[lane] += address[other] == address[lane];
        for (int other = 0; other < lane && first; other++)
            first = address[other] < 0 || address[other] / TWI_SECTOR != address[lane] / TWI_SECTOR ||
                    turn[other] != turn[lane];
        sectors += first;
    }
    return sectors;
}

int twi_count_words(const int64_t address[TWI_WARP], int32_t bytes)
{
    return count_pieces(address, 0, TWI_WARP, bytes, bytes > TWI_WORD ? bytes : TWI_WORD);
}

/* The most different words of one bank that these lanes ask for; of additions one after the other, the most lanes. */
static int degree_of(const twi_banks *banks, int first, int last)
{
    int64_t words[TWI_WARP * 4];
    int in_bank[TWI_BANKS] = {0};
    int count = 0;
    int most = 0;
    for (int lane = first; lane < last; lane++) {
        const int64_t address = banks->address[lane];
        for (int64_t at = address; address >= 0 && at < address + banks->bytes; at += TWI_WORD) {
            const int64_t word = at / TWI_WORD;
            const bool waits = !is_known(word, words, &count) || banks->adds == TWI_ADDS_ANY;
            if (waits && ++in_bank[word % TWI_BANKS] > most)
                most = in_bank[word % TWI_BANKS];
        }
    }
    return most;
}

/* Whether all lanes from `first` to `last` ask for what the lane at that distance asks for, in pairs. */
static bool are_pairs(const twi_banks *banks, int first, int last, int distance)
{
    for (int lane = first; lane < last; lane++) {
        const int64_t other = banks->address[lane ^ distance];
        if (banks->address[lane] >= 0 && other >= 0 && banks->address[lane] != other)
            return false;
    }
    return true;
}

int twi_lanes_together(const twi_banks *banks, int first)
{
    const int lanes = banks->bytes > TWI_WORD ? TWI_WARP * TWI_WORD / banks->bytes : TWI_WARP;
    const int last = first + 2 * lanes;
    if (banks->store || first % (2 * lanes) != 0 || last > TWI_WARP)
        return lanes;
    if (are_pairs(banks, first, last, 1) || (are_pairs(banks, first, last, 2) && degree_of(banks, first, last) <= 1))
        return 2 * lanes;
    return lanes;
}

int twi_count_wavefronts(twi_banks *banks)
{
    int wavefronts = 0;
    banks->degree = 0;
    for (int first = 0; first < TWI_WARP; first += twi_lanes_together(banks, first)) {
        const int degree = degree_of(banks, first, first + twi_lanes_together(banks, first));
        wavefronts += degree;
        if (degree > banks->degree)
            banks->degree = degree;
    }
    return wavefronts;
}

static int lanes_of(const int64_t *address, int first, int last)
{
    int lanes = 0;
    for (int lane = first; lane < last; lane++)
        lanes += address[lane] >= 0;
    return lanes;
}

/* Parts of the warp with a lane that takes part: the wavefronts without conflicts. */
static int least_wavefronts(const twi_banks *banks)
{
    int parts = 0;
    for (int first = 0; first < TWI_WARP; first += twi_lanes_together(banks, first))
        parts += lanes_of(banks->address, first, first + twi_lanes_together(banks, first)) > 0;
    return parts;
}

static void add(twi_counts *to, const twi_counts *counts, int64_t times)
{
    to->requests += times * counts->requests;
    to->elements += times * counts->elements;
    to->sectors += times * counts->sectors;
    to->wavefronts += times * counts->wavefronts;
    to->conflicts += times * counts->conflicts;
}

/* Of a texture, four lanes at a time. */
static twi_counts count_quads(const twi_banks *banks, int *figure)
{
    twi_counts counts = {0};
    for (int first = 0; first < TWI_WARP; first += TWI_QUAD) {
        const int sectors = count_pieces(banks->address, first, first + TWI_QUAD, banks->bytes, TWI_SECTOR);
        const int lanes = lanes_of(banks->address, first, first + TWI_QUAD);
        counts.requests += lanes > 0;
        counts.elements += lanes;
        counts.sectors += sectors;
        *figure = sectors > *figure ? sectors : *figure;
    }
    return counts;
}

/* The counts of what a warp asks for; `figure` is what its row shows: sectors, degree or cycles. */
static twi_counts count_request(const twi_access *access, twi_banks *banks, int *figure)
{
    twi_counts counts = {.elements = lanes_of(banks->address, 0, TWI_WARP)};
    if (counts.elements == 0)
        return counts;
    if (access->space == TWI_SPACE_TEXTURE)
        return count_quads(banks, figure);
    counts.requests = 1;
    if (access->space == TWI_SPACE_SHARED) {
        counts.wavefronts = twi_count_wavefronts(banks);
        counts.conflicts = counts.wavefronts - least_wavefronts(banks);
        *figure = banks->degree;
    } else if (access->space == TWI_SPACE_CONSTANT) {
        counts.wavefronts = *figure = twi_count_words(banks->address, banks->bytes);
    } else if (access->adds) {
        counts.sectors = *figure = count_turns(banks->address);
    } else {
        counts.sectors = *figure = twi_count_sectors(banks->address, banks->bytes);
    }
    return counts;
}

/* ---- A block ------------------------------------------------------------------------------------- */

static int threads_of(const twi_kernel *kernel)
{
    return kernel->block_width * kernel->block_height;
}

static void note(twi_explained *row, const twi_banks *banks, int figure)
{
    if (row->most == 0 || figure < row->least)
        row->least = figure;
    if (figure > row->most) {
        row->most = figure;
        row->worst = *banks;
    }
}

/* The block's requests of one access; `row`: where its figures are noted, or NULL. */
static twi_counts count_block(const twi_kernel *kernel, const twi_access *access, int64_t block_x, int64_t block_y,
                              twi_explained *row)
{
    const int threads = threads_of(kernel);
    twi_counts counts = {0};
    twi_visit visit = {.block_x = block_x, .block_y = block_y, .path = access->path};
    for (visit.step = 0; visit.step < access->steps; visit.step++) {
        for (int first = 0; first < threads; first += TWI_WARP) {
            twi_banks banks = {.bytes = access->bytes, .store = access->store, .adds = access->adds};
            int figure = 0;
            for (int lane = 0; lane < TWI_WARP; lane++) {
                visit.x = (first + lane) % kernel->block_width;
                visit.y = (first + lane) / kernel->block_width;
                banks.address[lane] = first + lane < threads ? access->address(kernel, &visit) : TWI_NO_ADDRESS;
            }
            const twi_counts request = count_request(access, &banks, &figure);
            add(&counts, &request, 1);
            if (row && request.requests > 0)
                note(row, &banks, figure);
        }
    }
    return counts;
}

/* ---- The image ------------------------------------------------------------------------------------- */

/* Blocks along an axis that stand for all: those at the ends, where windows reach over the edge, for themselves; of
   those between, one after the other until their addresses lie to sectors as before, for those a period further. */
typedef struct axis {
    int64_t blocks;
    int64_t edge;   /* blocks at either end */
    int64_t period; /* of those between */
} axis;

static axis axis_of(int64_t outputs, int32_t per_block, int64_t reach, int64_t period)
{
    axis a = {twi_divide_up(outputs, per_block), twi_divide_up(reach, per_block) + 1, TWI_SECTOR};
    if (period > 0)
        a.period = period;
    while (period == 0 && a.period > 1 && per_block % (TWI_SECTOR / (a.period / 2)) == 0)
        a.period /= 2;
    return a;
}

static bool is_short(const axis *a)
{
    return a->blocks <= 2 * a->edge + a->period;
}

static int64_t samples(const axis *a)
{
    return is_short(a) ? a->blocks : 2 * a->edge + a->period;
}

/* The block of a sample, and how many it stands for. */
static int64_t sample(const axis *a, int64_t index, int64_t *times)
{
    const int64_t between = a->blocks - 2 * a->edge;
    *times = 1;
    if (is_short(a) || index < a->edge)
        return index;
    if (index >= a->edge + a->period)
        return a->blocks - a->edge + (index - a->edge - a->period);
    *times = (between - (index - a->edge) + a->period - 1) / a->period;
    return index;
}

static void explain_access(const twi_access *access, const axis *across, const axis *down, twi_explanation *result)
{
    twi_explained *row = &result->accesses[result->count];
    for (twi_explained *other = result->accesses; other < row; other++)
        if (strcmp(other->what, access->what) == 0 && other->space == access->space && other->store == access->store &&
            other->adds == access->adds)
            row = other;
    if (row == &result->accesses[result->count]) {
        *row = (twi_explained){.what = access->what,
                               .space = access->space,
                               .store = access->store,
                               .adds = access->adds,
                               .bytes = access->bytes};
        result->count++;
    }
    const twi_counts block = count_block(&result->kernel, access, result->blocks_x / 2, result->blocks_y / 2, row);
    add(&row->block, &block, 1);
    for (int64_t j = 0; j < samples(down); j++) {
        for (int64_t i = 0; i < samples(across); i++) {
            int64_t times_x;
            int64_t times_y;
            const int64_t block_x = sample(across, i, &times_x);
            const int64_t block_y = sample(down, j, &times_y);
            const twi_counts one = count_block(&result->kernel, access, block_x, block_y, NULL);
            add(&row->image, &one, times_x * times_y);
        }
    }
}

tw_status twi_explain_declared(twi_explanation *result)
{
    const twi_kernel *kernel = &result->kernel;
    const tw_window *window = &kernel->problem->window;
    const axis across = axis_of(kernel->columns, kernel->outputs_width,
                                (window->width - 1) * (int64_t)kernel->problem->channels, kernel->period);
    const axis down = axis_of(kernel->rows, kernel->outputs_height, window->height - 1, 0);
    double of_block = 0;
    for (size_t i = 0; i < kernel->count; i++)
        of_block += threads_of(kernel) * (double)kernel->accesses[i].steps;
    const double in_all = of_block * (double)across.blocks * (double)down.blocks;
    if (in_all > most_in_all)
        return twi_fail(TW_ERROR_LIMIT, "%.2g addresses are more than can be counted: use a smaller image", in_all);
    const double addresses = of_block * (double)samples(&across) * (double)samples(&down);
    if (addresses > most_addresses)
        return twi_fail(TW_ERROR_LIMIT, "%.2g addresses to follow, %.2g are the most: use a smaller window or image",
                        addresses, most_addresses);
    result->blocks_x = across.blocks;
    result->blocks_y = down.blocks;
    for (size_t i = 0; i < kernel->count; i++)
        explain_access(&kernel->accesses[i], &across, &down, result);
    return TW_OK;
}

const char *twi_direction(const twi_explained *access)
{
    return access->adds ? "add" : access->store ? "store" : "load";
}

/* ---- Variants -------------------------------------------------------------------------------------- */

bool twi_is_explained(size_t index)
{
    return index < twi_variant_total && twi_variants[index].code->explain;
}

bool twi_find_explained(tw_op op, const char *name, size_t *index)
{
    for (size_t i = 0; i < twi_variant_total; i++) {
        if (twi_variants[i].op != op || strcmp(twi_variants[i].name, name) != 0 || !twi_is_explained(i))
            continue;
        *index = i;
        return true;
    }
    return false;
}

/* The pitch that tw_image_create() gives an image of that width. */
static int64_t pitch_of(const tw_problem *problem, int64_t width, tw_type type)
{
    enum { PITCH = 256 };
    return twi_round_up(width * problem->channels * (int64_t)tw_type_size(type), PITCH);
}

tw_status twi_explain(size_t index, const tw_problem *problem, int32_t block_width, int32_t block_height, bool flat,
                      twi_explanation *result)
{
    tw_problem on_device = *problem;
    int64_t out_width;
    int64_t out_height;
    if (index >= twi_variant_total)
        return twi_fail(TW_ERROR_ARGUMENT, "variant %zu: there is no such variant", index);
    const twi_variant *variant = &twi_variants[index];
    if (!twi_is_explained(index))
        return twi_fail(TW_ERROR_UNSUPPORTED, "what variant %s of %s does to memory is not described", variant->name,
                        tw_op_name(variant->op));
    if ((int64_t)block_width * block_height > MOST_THREADS)
        return twi_fail(TW_ERROR_ARGUMENT, "block %dx%d: blocks have at most %d threads", (int)block_width,
                        (int)block_height, (int)MOST_THREADS);
    on_device.memory = TW_DEVICE;
    const char *reason = twi_refusal(variant, NULL, &on_device);
    if (reason)
        return twi_fail(TW_ERROR_UNSUPPORTED, "variant %s does not do this: %s", variant->name, reason);
    twi_out_shape(problem, &out_width, &out_height);
    *result = (twi_explanation){
        .kernel = {.problem = problem,
                   .block_width = block_width,
                   .block_height = block_height,
                   .src_pitch = pitch_of(problem, problem->width, problem->type),
                   .dst_pitch = pitch_of(problem, out_width, problem->out_type),
                   .flat = flat},
    };
    variant->code->explain(&result->kernel);
    return twi_explain_declared(result);
}

tw_status twi_explain_occupancy(tw_context *context, const twi_explanation *explanation, twi_occupancy *occupancy)
{
    const twi_kernel *kernel = &explanation->kernel;
    if (!context->backend->occupancy || !kernel->function)
        return twi_fail(TW_ERROR_UNSUPPORTED, "registers and occupancy are the driver's, of a CUDA device");
    return context->backend->occupancy(context, kernel->function, threads_of(kernel), kernel->dynamic, occupancy);
}
