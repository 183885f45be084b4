/*
 * histogram of bytes with AVX-512 (VBMI, VBMI2, BITALG) and GFNI: compiled with their flags (cmake/cpu.cmake) and run
 * where the processor has them. One counter in memory takes a cycle for each byte; this takes about half of one, for
 * any bytes, since it adds up bits:
 *
 *   - bytes are sorted by their two highest bits into four groups, 64 at a time;
 *   - of a group's bytes six bits are left. A permutation of 64 entries turns each into one set bit of eight, for an
 *     eighth of the values (a word) at a time;
 *   - full adders for 512 bits, two instructions each, add what 16 such vectors have in each bit: only their carries,
 *     which count 16, are counted one by one.
 */
#include "cpu/histogram.h"
#include "cpu/vector.h"

#ifdef LEVEL_VECTOR
enum {
    GROUPS = 4,
    WORDS = 8,                        /* of eight values, in a group */
    BLOCK = 16 * VEC,                 /* bytes of a group that are added up together */
    PIECE = 10 * 4 * 3 * VEC,         /* whole vectors of each channel, for 1 to 4 of them */
    PLANE = PIECE / 2 + VEC,          /* bytes of a piece in one of several channels, and what is stored behind them */
    PAIR = 2,                         /* of words, whose sums stay in registers together */
    MOST_AT_ONCE = PIECE / BLOCK + 1, /* blocks of a group after a piece */
    MOST_BLOCKS = UINT8_MAX / 8 - MOST_AT_ONCE, /* to which that many may be added: a byte counts their carries */
};

/* The bits of a word, added up: bit k of each byte is of the word's value k. */
typedef struct adder {
    vec ones, twos, fours, eights;
    vec sixteens; /* counted: byte k of each eight is of value k */
} adder;

typedef struct channel {
    adder adders[GROUPS][WORDS];
    int64_t blocks[GROUPS];  /* in `sixteens` */
    int64_t waiting[GROUPS]; /* bytes, in `groups` */
    uint8_t groups[GROUPS][BLOCK + PIECE + VEC];
} channel;

typedef struct tables {
    uint64_t totals[4][256];
    uint8_t planes[4][PLANE];
    channel channels[];
} tables;

/* ---- Counting bits ------------------------------------------------------------------------------------- */

/* Entry i of a word's table is bit i % 8, if i is one of its values. */
#define BITS (long long)0x8040201008040201
static const long long tables_of_bits[WORDS][8] = {
    {BITS},
    {0, BITS},
    {0, 0, BITS},
    {0, 0, 0, BITS},
    {0, 0, 0, 0, BITS},
    {0, 0, 0, 0, 0, BITS},
    {0, 0, 0, 0, 0, 0, BITS},
    {0, 0, 0, 0, 0, 0, 0, BITS},
};

/* *sum becomes the lower bits of *sum + a + b, the result is the higher ones. */
INLINE vec add_bits(vec *sum, vec a, vec b)
{
    const vec old = *sum;
    *sum = _mm512_ternarylogic_epi64(old, a, b, 0x96);
    return _mm512_ternarylogic_epi64(old, a, b, 0xe8);
}

/* Byte k of each eight: how many of the eight have bit k. */
INLINE vec count_bits(vec v)
{
    const vec turned = _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64(BITS), v, 0);
    return _mm512_popcnt_epi8(turned);
}

/* Adds byte k of each eight, `weight` times, to total k. */
static void add_to_totals(uint64_t *totals, vec counts, uint64_t weight)
{
    uint8_t bytes[VEC];
    uint64_t sums[WORDS] = {0};
    v_store(bytes, counts);
    for (int i = 0; i < VEC; i += WORDS)
        for (int k = 0; k < WORDS; k++)
            sums[k] += bytes[i + k];
    for (int k = 0; k < WORDS; k++)
        totals[k] += weight * sums[k];
}

static void empty_sixteens(channel *c, int group, uint64_t *totals)
{
    for (int word = 0; word < WORDS; word++) {
        vec *const sixteens = &c->adders[group][word].sixteens;
        add_to_totals(totals + (group * WORDS + word) * 8, *sixteens, 16);
        *sixteens = _mm512_setzero_si512();
    }
    c->blocks[group] = 0;
}

/* Blocks of a group that follow one another. */
static void count_blocks(channel *c, int group, const uint8_t *at, int64_t blocks, uint64_t *totals)
{
    for (int word = 0; word < WORDS; word += PAIR) {
        adder sums[PAIR];
        vec places[PAIR];
        for (int w = 0; w < PAIR; w++) {
            sums[w] = c->adders[group][word + w];
            places[w] = v_load(tables_of_bits[word + w]);
        }
        const uint8_t *from = at;
        for (int64_t block = 0; block < blocks; block++) {
            vec two[PAIR][2], four[PAIR][2], eight[PAIR][2];
            UNROLL
            for (int i = 0; i < 8; i++, from += 2 * VEC) {
                const vec first = v_load(from), second = v_load(from + VEC);
                UNROLL
                for (int w = 0; w < PAIR; w++) {
                    const vec a = _mm512_permutexvar_epi8(first, places[w]);
                    const vec b = _mm512_permutexvar_epi8(second, places[w]);
                    two[w][i % 2] = add_bits(&sums[w].ones, a, b);
                    if (i % 2 == 1)
                        four[w][i / 2 % 2] = add_bits(&sums[w].twos, two[w][0], two[w][1]);
                    if (i % 4 == 3)
                        eight[w][i / 4] = add_bits(&sums[w].fours, four[w][0], four[w][1]);
                }
            }
            UNROLL
            for (int w = 0; w < PAIR; w++) {
                const vec sixteen = add_bits(&sums[w].eights, eight[w][0], eight[w][1]);
                sums[w].sixteens = _mm512_add_epi8(sums[w].sixteens, count_bits(sixteen));
            }
        }
        for (int w = 0; w < PAIR; w++)
            c->adders[group][word + w] = sums[w];
    }
    c->blocks[group] += blocks;
    if (c->blocks[group] > MOST_BLOCKS)
        empty_sixteens(c, group, totals);
}

/* ---- Sorting ------------------------------------------------------------------------------------------- */

/* The valid bytes of v go to the ends of their groups, and whatever comes after them. Of groups that get no more than
   half a vector half a one is stored, which takes less than half the time. */
INLINE void sort(vec v, __mmask64 valid, uint8_t *ends[GROUPS])
{
    const vec high = _mm512_and_si512(v, _mm512_set1_epi8((char)0xc0));
    for (int group = 0; group < GROUPS; group++) {
        const __mmask64 in = _mm512_mask_cmpeq_epi8_mask(valid, high, _mm512_set1_epi8((char)(group << 6)));
        /* into a copy of v: into zeros it would wait for the register's last use */
        const vec packed = _mm512_mask_compress_epi8(v, in, v);
        const int n = __builtin_popcountll(in);
        _mm256_storeu_si256((__m256i *)(void *)ends[group], _mm512_castsi512_si256(packed));
        if (n > VEC / 2)
            v_store(ends[group], packed);
        ends[group] += n;
    }
}

INLINE bool all_equal(vec v)
{
    return _mm512_cmpneq_epi8_mask(v, _mm512_broadcastb_epi8(_mm512_castsi512_si128(v))) == 0;
}

/* Of n bytes the first ones that a vector holds. */
INLINE __mmask64 first_bytes(int64_t n)
{
    return n < VEC ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

static void count_channel(channel *c, const uint8_t *at, int64_t n, uint64_t *totals)
{
    uint8_t *ends[GROUPS];
    for (int group = 0; group < GROUPS; group++)
        ends[group] = c->groups[group] + c->waiting[group];
    for (; n >= VEC; n -= VEC, at += VEC) {
        const vec v = v_load(at);
        __builtin_prefetch(at + PIECE, 0, 2); /* the next piece comes while this one's blocks are counted */
        if (all_equal(v))
            totals[at[0]] += VEC;
        else
            sort(v, UINT64_MAX, ends);
    }
    if (n > 0)
        sort(_mm512_maskz_loadu_epi8(first_bytes(n), at), first_bytes(n), ends);
    for (int group = 0; group < GROUPS; group++) {
        /* whole blocks from behind the first bytes: those stay where they are, but for part of a vector */
        const int64_t waiting = ends[group] - c->groups[group];
        const int64_t blocks = waiting / BLOCK * BLOCK;
        uint8_t *const stay = c->groups[group] + waiting % BLOCK / VEC * VEC;
        if (blocks > 0)
            count_blocks(c, group, stay, blocks / BLOCK, totals);
        v_store(stay, v_load(stay + blocks));
        c->waiting[group] = waiting - blocks;
    }
}

/* ---- The variant --------------------------------------------------------------------------------------- */

/* The bytes of v go to the ends of their channels' planes; the first one is of channel `first`. */
INLINE void take_apart(vec v, int first, int channels, uint8_t *ends[4])
{
    static const uint64_t every[5] = {[2] = 0x5555555555555555, [3] = 0x9249249249249249, [4] = 0x1111111111111111};
    UNROLL
    for (int k = 0; k < channels; k++) {
        const __mmask64 mine = every[channels] << (k + channels - first) % channels;
        const vec packed = _mm512_mask_compress_epi8(v, mine, v); /* no more than half of v */
        _mm256_storeu_si256((__m256i *)(void *)ends[k], _mm512_castsi512_si256(packed));
        ends[k] += __builtin_popcountll(mine);
    }
}

INLINE void make_planes(const uint8_t *at, int64_t n, int channels, tables *t)
{
    uint8_t *ends[4] = {t->planes[0], t->planes[1], t->planes[2], t->planes[3]};
    for (; n >= channels * VEC; n -= channels * VEC, at += channels * VEC) {
        UNROLL
        for (int i = 0; i < channels; i++) {
            __builtin_prefetch(at + i * VEC + PIECE, 0, 2);
            take_apart(v_load(at + i * VEC), i * VEC % channels, channels, ends);
        }
    }
    UNROLL
    for (int i = 0; i < channels; i++) { /* zeros at the end are counted by nobody */
        const __mmask64 valid = first_bytes(twi_max_i64(n - i * VEC, 0));
        take_apart(_mm512_maskz_loadu_epi8(valid, at + i * VEC), i * VEC % channels, channels, ends);
    }
}

static void count(const twi_counting *counting, const void *at, int64_t n, void *memory)
{
    tables *const t = memory;
    const int channels = counting->channels;
    switch (channels) {
    case 1:
        break;
    case 2:
        make_planes(at, n, 2, t);
        break;
    case 3:
        make_planes(at, n, 3, t);
        break;
    default:
        make_planes(at, n, 4, t);
        break;
    }
    for (int k = 0; k < channels; k++)
        count_channel(&t->channels[k], channels > 1 ? t->planes[k] : at, n / channels, t->totals[k]);
}

/* Adds what has not become a carry, or not been counted at all. */
static void empty(const twi_counting *counting, void *memory)
{
    tables *const t = memory;
    for (int k = 0; k < counting->channels; k++) {
        channel *const c = &t->channels[k];
        for (int group = 0; group < GROUPS; group++) {
            empty_sixteens(c, group, t->totals[k]);
            for (int word = 0; word < WORDS; word++) {
                const adder *a = &c->adders[group][word];
                const vec rest[4] = {a->ones, a->twos, a->fours, a->eights};
                for (int i = 0; i < 4; i++)
                    add_to_totals(t->totals[k] + (group * WORDS + word) * 8, count_bits(rest[i]), UINT64_C(1) << i);
            }
            for (int64_t i = 0; i < c->waiting[group]; i++)
                t->totals[k][c->groups[group][i]]++;
        }
    }
}

static int64_t room_of(const tw_problem *problem)
{
    return (int64_t)sizeof(tables) + problem->channels * (int64_t)sizeof(channel);
}

static tw_status run(const tw_plan *plan, const twi_job *job)
{
    const int64_t room = room_of(&plan->problem);
    const twi_counting counting = {.channels = plan->problem.channels,
                                   .room = room,
                                   .clear = room,
                                   .piece = PIECE,
                                   .count = count,
                                   .empty = empty};
    return twi_histogram_run(plan, job, &counting);
}

static tw_status prepare(tw_plan *plan)
{
    return twi_histogram_prepare(plan, room_of(&plan->problem));
}
#endif

static double cost(const tw_context *context, const tw_problem *problem)
{
    return twi_histogram_cost(context, problem, 0.15);
}

const twi_code twi_histogram_avx512_cpu = {
    .refuses = twi_cpu_refuses_avx512_vbmi2,
    .cost = cost,
#ifdef LEVEL_VECTOR /* else no processor of this kind has it */
    .prepare = prepare,
    .run = run,
#endif
    .whole = true,
};
