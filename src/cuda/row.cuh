/*
 * Rows of pixels in registers. A thread holds, of each of `rows` rows, its own elements and the pixels beside them
 * ("halo"), as the 32-bit words that they are in memory: the extended row. Everything that knows about
 * alignment and borders is here; the arithmetic on extended rows knows about neither.
 *
 * For windows 3 wide, centred: a halo is one pixel.
 */
#ifndef TWI_CUDA_ROW_CUH
#define TWI_CUDA_ROW_CUH

#include "core/exact.h"
#include "cuda/cuda.h"

#define TWI_DEVICE static __device__ __forceinline__

/* The extended row of a thread that makes 4 * W bytes of outputs, of type T with C channels. */
template <typename T, int C, int W> struct extended {
    static constexpr int size = (int)sizeof(T);
    static constexpr int own = 4 * W / size;              /* elements that the thread makes */
    static constexpr int halo_words = (C * size + 3) / 4; /* on either side */
    static constexpr int words = W + 2 * halo_words;
    static constexpr int first = 4 * halo_words / size; /* the first own element, counted in the extended row */
};

/* Bytes that a warp makes, and by how much its threads' bytes overlap those of the warp after it where rows lie at
   any address: the last thread then only helps the one before it to whole 16-byte stores. */
template <int W, bool ALIGNED> struct span {
    static constexpr int overlap = ALIGNED ? 0 : 4 * W;
    static constexpr int warp = 128 * W - overlap;
};

/* ---- Elements in words ------------------------------------------------------------------------ */

/* Element i, known when compiling. */
template <typename T> TWI_DEVICE T get_element(const uint32_t *words, int i)
{
    if constexpr (sizeof(T) == 8)
        return __longlong_as_double((int64_t)words[2 * i] | (int64_t)words[2 * i + 1] << 32);
    else if constexpr (sizeof(T) == 4)
        return *(const T *)&words[i];
    else
        return (T)(words[i * sizeof(T) / 4] >> (i * sizeof(T) % 4 * 8));
}

/* Sets element i of words that hold 0 there. */
template <typename T> TWI_DEVICE void put_element(uint32_t *words, int i, T value)
{
    if constexpr (sizeof(T) == 8) {
        const int64_t bits = __double_as_longlong(value);
        words[2 * i] = (uint32_t)bits;
        words[2 * i + 1] = (uint32_t)(bits >> 32);
    } else if constexpr (sizeof(T) == 4) {
        words[i] = *(const uint32_t *)&value;
    } else if constexpr (sizeof(T) == 2) {
        words[i / 2] |= (uint32_t)(uint16_t)value << (i % 2 * 16);
    } else {
        words[i / 4] |= (uint32_t)value << (i % 4 * 8);
    }
}

/* ---- Borders ----------------------------------------------------------------------------------- */

/* The row that position y reads, -1 to height, NULL where it is the border's value. Positions further down are
   read only for outputs that nobody stores. */
TWI_DEVICE const char *source_row(const twi_cuda_box &box, int64_t y)
{
    y = y < 0 ? box.row_before : y >= box.height ? box.row_after : y;
    return y < 0 ? nullptr : (const char *)box.src + y * box.src_pitch;
}

/* ---- Words at any address ------------------------------------------------------------------------ */

TWI_DEVICE void load16(const void *address, uint32_t *words)
{
    const uint4 v = __ldg((const uint4 *)address);
    words[0] = v.x;
    words[1] = v.y;
    words[2] = v.z;
    words[3] = v.w;
}

TWI_DEVICE void store16(void *address, const uint32_t *words)
{
    *(uint4 *)address = make_uint4(words[0], words[1], words[2], words[3]);
}

/* N words that begin `shift` bits into the given ones. */
template <int N> TWI_DEVICE void funnel(const uint32_t *from, unsigned shift, uint32_t *words)
{
#pragma unroll
    for (int k = 0; k < N; k++)
        words[k] = __funnelshift_r(from[k], from[k + 1], shift);
}

/* N words that begin `skip` bytes (0 to 15, the same in all threads) into the N + 4 given ones. */
template <int N> TWI_DEVICE void skip_bytes(const uint32_t *from, unsigned skip, uint32_t *words)
{
    uint32_t moved[N + 2];
#pragma unroll
    for (int k = 0; k < N + 2; k++)
        moved[k] = skip & 8 ? from[k + 2] : from[k];
#pragma unroll
    for (int k = 0; k < N + 1; k++)
        moved[k] = skip & 4 ? moved[k + 1] : moved[k];
    funnel<N>(moved, skip % 4 * 8, words);
}

/* ---- Loading: a warp, each byte once ------------------------------------------------------------- */

/* Whether a warp needs no care: all its rows exist, all its loads lie inside them, and each halo is either wholly
   inside or wholly outside. */
template <typename T, int C, int W, int ROWS, bool ALIGNED>
TWI_DEVICE bool warp_inside(const twi_cuda_box &box, int64_t begin, int64_t y)
{
    constexpr int pixel = C * (int)sizeof(T);
    const int64_t end = begin + 128 * W;
    const int64_t bytes = box.width * pixel;
    const bool columns = ALIGNED ? end == bytes || end + pixel <= bytes : begin >= 32 && end + 32 <= bytes;
    return columns && y > 0 && y + ROWS < box.height && y + ROWS <= box.last;
}

/* Words of a row at any address, where they do not cross the row's ends: pieces of 8 bytes that hold them, which are
   joined once all rows' pieces have arrived. `skip`: what the first piece holds before them. */
template <int W> TWI_DEVICE void load_pieces(const char *address, uint32_t *pieces)
{
    const char *first = (const char *)((uintptr_t)address & ~(uintptr_t)7);
#pragma unroll
    for (int k = 0; k < W + 2; k += 2) {
        const uint2 v = __ldg((const uint2 *)(first + 4 * k));
        pieces[k] = v.x;
        pieces[k + 1] = v.y;
    }
}

template <int W> TWI_DEVICE void join_pieces(const uint32_t *pieces, unsigned skip, uint32_t *words)
{
    uint32_t moved[W + 1];
#pragma unroll
    for (int k = 0; k < W + 1; k++)
        moved[k] = skip & 4 ? pieces[k + 1] : pieces[k];
    funnel<W>(moved, skip % 4 * 8, words);
}

/* The byte of a row that the byte `place` reads, -1 where it is the border's value. Beside the row only one pixel is
   ever needed. */
template <int PIXEL> TWI_DEVICE int64_t source_byte(const twi_cuda_box &box, int64_t place)
{
    const int64_t bytes = box.width * PIXEL;
    if (place < 0)
        return place >= -PIXEL && box.column_before >= 0 ? place + (box.column_before + 1) * PIXEL : -1;
    if (place >= bytes)
        return place < bytes + PIXEL && box.column_after >= 0 ? place - bytes + box.column_after * PIXEL : -1;
    return place;
}

/* The elements of a word (an f64: two) of N rows, those outside the row by the border's rule. */
template <typename T, int C, int N, int STEP>
TWI_DEVICE void load_word(const twi_cuda_box &box, const char *const *row, int64_t at, uint32_t (*words)[STEP])
{
    constexpr int size = (int)sizeof(T);
#pragma unroll
    for (int i = 0; i < N; i++)
        words[i][0] = 0;
#pragma unroll
    for (int e = 0; e < 4 * STEP / size; e++) {
        const int64_t from = source_byte<C * size>(box, at + e * size);
#pragma unroll
        for (int i = 0; i < N; i++)
            put_element<T>(words[i], e, row[i] && from >= 0 ? __ldg((const T *)(row[i] + from)) : (T)box.value);
    }
}

/* A thread's own words where not all lie inside the row. A loop over words, not unrolled: this is rare, and code that
   runs once costs more to fetch than to run. */
template <typename T, int C, int W, int N, int PIECES>
TWI_DEVICE void load_elements(const twi_cuda_box &box, const char *const *row, int64_t at, uint32_t (*own)[PIECES])
{
    constexpr int step = sizeof(T) == 8 ? 2 : 1; /* words */
#pragma unroll 1
    for (int k = 0; k < W; k += step) {
        uint32_t words[N][step];
        load_word<T, C, N, step>(box, row, at + 4 * k, words);
#pragma unroll
        for (int i = 0; i < N; i++) { /* the words move down, and the new ones come last */
#pragma unroll
            for (int j = 0; j < W - step; j++)
                own[i][j] = own[i][j + step];
#pragma unroll
            for (int j = 0; j < step; j++)
                own[i][W - step + j] = words[i][j];
        }
    }
}

/* The border's value in each of N words. */
template <typename T, int N> TWI_DEVICE void fill(const twi_cuda_box &box, uint32_t *words)
{
    uint32_t value[2] = {};
#pragma unroll
    for (int e = 0; e < 8 / (int)sizeof(T); e++)
        put_element<T>(value, e, (T)box.value);
#pragma unroll
    for (int k = 0; k < N; k++)
        words[k] = value[k % 2];
}

/* A thread's own words of N rows, of which `row` are the addresses, NULL where a row is the border's value; as pieces,
   if rows lie at any address. Returns whether they are: at the row's ends there are none to load. */
template <typename T, int C, int W, int N, bool ALIGNED, bool INSIDE, int PIECES>
TWI_DEVICE bool load_own(const twi_cuda_box &box, const char *const *row, int64_t at, uint32_t (*pieces)[PIECES])
{
    constexpr int margin = ALIGNED ? 0 : 8;
    if (!INSIDE && (at < margin || at + 4 * W + margin > box.width * C * (int64_t)sizeof(T))) {
        load_elements<T, C, W, N, PIECES>(box, row, at, pieces);
        return false;
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
        if (!INSIDE && !row[i]) {
            fill<T, PIECES>(box, pieces[i]);
        } else if constexpr (ALIGNED) {
#pragma unroll
            for (int k = 0; k < W; k += 4)
                load16(row[i] + at + 4 * k, pieces[i] + k);
        } else {
            load_pieces<W>(row[i] + at, pieces[i]);
        }
    }
    return true;
}

/* The pixel to the left of a warp in its first thread, the one to its right in its last, as units of type U. */
template <typename T, int C, int N, bool ALIGNED, bool INSIDE, typename U, int UNITS>
TWI_DEVICE void load_halo(const twi_cuda_box &box, const char *const *row, int64_t begin, int64_t end, U (*halo)[UNITS])
{
    constexpr int pixel = C * (int)sizeof(T);
    const int lane = threadIdx.x;
    const int64_t at = lane == 0 ? begin - pixel : end;
    uint32_t value[2];
    fill<T, 2>(box, value);
    if constexpr (INSIDE) {
        /* aligned warps end where rows do, the others never there */
        const int64_t place = ALIGNED ? source_byte<pixel>(box, at) : at;
        const char *from = row[0] + place;
        const bool reads = (lane == 0 || lane == 31) && place >= 0;
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int c = 0; c < UNITS; c++)
                halo[i][c] = reads ? __ldg((const U *)(from + i * box.src_pitch) + c) : get_element<U>(value, 0);
    } else {
#pragma unroll
        for (int c = 0; c < UNITS; c++) {
            const int64_t place = source_byte<pixel>(box, at + c * (int)sizeof(U));
            const bool reads = (lane == 0 || lane == 31) && place >= 0;
#pragma unroll
            for (int i = 0; i < N; i++)
                halo[i][c] = reads && row[i] ? __ldg((const U *)(row[i] + place)) : get_element<U>(value, 0);
        }
    }
}

/* The largest type that a pixel is loaded as: one that its address is a multiple of. */
template <typename T, int C, bool WIDE> struct unit_of {
    typedef T type;
};
template <> struct unit_of<uint8_t, 2, true> {
    typedef uint16_t type;
};
template <> struct unit_of<uint8_t, 4, true> {
    typedef uint32_t type;
};
template <> struct unit_of<uint16_t, 2, true> {
    typedef uint32_t type;
};
template <> struct unit_of<uint16_t, 4, true> {
    typedef uint32_t type;
};
template <> struct unit_of<int16_t, 2, true> {
    typedef uint32_t type;
};
template <> struct unit_of<int16_t, 4, true> {
    typedef uint32_t type;
};

/* Extended rows of the rows from y - 1 on, for a warp that begins at byte `begin`. Each byte is loaded once in a
   warp; halos come from the neighbouring threads. INSIDE: the warp needs no care. */
template <typename T, int C, int W, int N, bool ALIGNED, bool INSIDE>
TWI_DEVICE void load_rows(const twi_cuda_box &box, int64_t begin, int64_t y, uint32_t (*x)[extended<T, C, W>::words])
{
    using row_type = extended<T, C, W>;
    using unit = typename unit_of<T, C, ALIGNED && INSIDE>::type;
    constexpr int side = row_type::halo_words;
    constexpr int pixel = C * row_type::size;
    constexpr int units = pixel / (int)sizeof(unit);
    const int lane = threadIdx.x;
    constexpr int count = ALIGNED ? W : W + 2;
    const char *row[N];
    uint32_t pieces[N][count];
    uint32_t own[N][W];
    unit halo[N][units];
#pragma unroll
    for (int i = 0; i < N; i++) {
        if (INSIDE)
            row[i] = i == 0 ? (const char *)box.src + (y - 1) * box.src_pitch : row[i - 1] + box.src_pitch;
        else
            row[i] = source_row(box, y - 1 + i);
    }
    const bool joined = load_own<T, C, W, N, ALIGNED, INSIDE, count>(box, row, begin + lane * (4 * W), pieces);
    load_halo<T, C, N, ALIGNED, INSIDE, unit, units>(box, row, begin, begin + 128 * W, halo);
#pragma unroll
    for (int i = 0; i < N; i++) {
        /* 4 * W bytes a thread: the row's address alone decides what a piece holds before its words */
        const unsigned skip = INSIDE || (joined && row[i]) ? (unsigned)(uintptr_t)row[i] % 8 : 0;
        if constexpr (ALIGNED) {
#pragma unroll
            for (int k = 0; k < W; k++)
                own[i][k] = pieces[i][k];
        } else {
            join_pieces<W>(pieces[i], skip, own[i]);
        }
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
        uint32_t left[side] = {};
        uint32_t right[side] = {};
#pragma unroll
        for (int c = 0; c < units; c++) {
            put_element<unit>(left, (4 * side - pixel) / (int)sizeof(unit) + c, halo[i][c]);
            put_element<unit>(right, c, halo[i][c]);
        }
#pragma unroll
        for (int k = 0; k < side; k++) {
            const uint32_t before = __shfl_up_sync(~0u, own[i][W - side + k], 1);
            const uint32_t after = __shfl_down_sync(~0u, own[i][k], 1);
            x[i][k] = lane == 0 ? left[k] : before;
            x[i][side + W + k] = lane == 31 ? right[k] : after;
        }
#pragma unroll
        for (int k = 0; k < W; k++)
            x[i][side + k] = own[i][k];
    }
}

/* ---- Loading: a word a thread, without a branch -------------------------------------------------------- */

/* What a thread loads of a row, before it is put together: all rows' loads leave before the first is waited for. */
template <typename T, int C, int W> struct light_row {
    static constexpr int tail = sizeof(T) < 4 ? 4 / (int)sizeof(T) - 1 : 1;
    uint32_t own[W];
    T last[tail]; /* where the row ends inside the thread's word: the elements before its end */
    T before[C];
    T after[C];
};

/* The byte that a byte of a row, or of a pixel beside it, is read from, -1 where it is the border's value. */
template <int PIXEL> TWI_DEVICE int light_place(const twi_cuda_box &box, int place)
{
    const int bytes = (int)box.width * PIXEL;
    const int before = (int)box.column_before;
    const int after = (int)box.column_after;
    if (place < 0)
        return before < 0 ? -1 : place + (before + 1) * PIXEL;
    if (place >= bytes)
        return after < 0 ? -1 : place - bytes + after * PIXEL;
    return place;
}

template <typename T, int C, int W>
TWI_DEVICE void load_light_row(const char *row, bool exists, int at, int valid, const int *left, const int *right,
                               T value, light_row<T, C, W> &r)
{
    constexpr int size = (int)sizeof(T);
    const bool whole = valid == 4 * W;
#pragma unroll
    for (int k = 0; k < W; k++)
        r.own[k] = exists && whole ? __ldg((const uint32_t *)(row + at) + k) : 0;
#pragma unroll
    for (int e = 0; e < r.tail; e++)
        r.last[e] = size < 4 && exists && !whole && e * size < valid ? __ldg((const T *)(row + at) + e) : (T)0;
#pragma unroll
    for (int c = 0; c < C; c++) {
        r.before[c] = exists && left[c] >= 0 ? __ldg((const T *)(row + left[c])) : value;
        r.after[c] = exists && right[c] >= 0 ? __ldg((const T *)(row + right[c])) : value;
    }
}

/* The extended row. Where the row ends inside the thread's word, the pixel beside it begins there. */
template <typename T, int C, int W>
TWI_DEVICE void join_light_row(const twi_cuda_box &box, bool exists, int valid, const light_row<T, C, W> &r,
                               uint32_t *x)
{
    using row_type = extended<T, C, W>;
    constexpr int side = row_type::halo_words;
    uint32_t after[side + 1] = {};
    uint32_t value[W];
    fill<T, W>(box, value);
#pragma unroll
    for (int k = 0; k < row_type::words; k++)
        x[k] = k >= side && k < side + W ? r.own[k - side] : 0;
#pragma unroll
    for (int c = 0; c < C; c++) {
        put_element<T>(x, row_type::first - C + c, r.before[c]);
        put_element<T>(after, c, r.after[c]);
    }
    if constexpr (row_type::size < 4) {
#pragma unroll
        for (int e = 0; e < r.tail; e++)
            put_element<T>(x, row_type::first + e, r.last[e]);
        x[side] |= valid < 4 ? after[0] << (8 * valid) : 0;
    }
#pragma unroll
    for (int k = 0; k < W; k++)
        x[side + k] = exists ? x[side + k] : value[k];
#pragma unroll
    for (int k = 0; k < side; k++)
        x[side + W + k] = row_type::size < 4 ? __funnelshift_lc(after[k], after[k + 1], 8 * valid) : after[k];
}

/* Extended rows of a thread at byte `at`, a multiple of 4 * W, W = 1 (f64: 2). All offsets fit in 31 bits. */
template <typename T, int C, int W, int N>
TWI_DEVICE void load_light(const twi_cuda_box &box, int at, int y, uint32_t (*x)[extended<T, C, W>::words])
{
    constexpr int size = (int)sizeof(T);
    constexpr int pixel = C * size;
    const int rest = (int)box.width * pixel - at;
    const int valid = rest < 4 * W ? rest : 4 * W;
    int left[C];
    int right[C];
    bool exists[N];
    light_row<T, C, W> rows[N];
#pragma unroll
    for (int c = 0; c < C; c++) {
        left[c] = light_place<pixel>(box, at - pixel + c * size);
        right[c] = light_place<pixel>(box, at + valid + c * size);
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
        int from = y - 1 + i;
        from = from < 0 ? (int)box.row_before : from >= (int)box.height ? (int)box.row_after : from;
        exists[i] = from >= 0;
        load_light_row<T, C, W>((const char *)box.src + from * (int)box.src_pitch, exists[i], at, valid, left, right,
                                (T)box.value, rows[i]);
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        join_light_row<T, C, W>(box, exists[i], valid, rows[i], x[i]);
}

/* ---- Storing ---------------------------------------------------------------------------------------- */

/* Those of a thread's 4 * W bytes that lie inside the row. The loop is not unrolled for the same reason as above. */
template <typename T, int W> TWI_DEVICE void store_elements(char *row, int64_t at, int64_t bytes, const uint32_t *words)
{
    constexpr int size = (int)sizeof(T);
    constexpr int step = size == 8 ? 2 : 1;
    uint32_t left[W];
#pragma unroll
    for (int k = 0; k < W; k++)
        left[k] = words[k];
#pragma unroll 1
    for (int k = 0; k < W; k += step, at += 4 * step) {
#pragma unroll
        for (int e = 0; e < 4 * step / size; e++)
            if (at + e * size >= 0 && at + e * size < bytes)
                *(T *)(row + at + e * size) = get_element<T>(left, e);
#pragma unroll
        for (int j = 0; j < W - step; j++)
            left[j] = left[j + step];
    }
}

/* A thread's words at its own bytes. */
template <typename T, int W, bool ALIGNED, bool INSIDE>
TWI_DEVICE void store_own(char *row, int64_t at, int64_t bytes, const uint32_t *words)
{
    if (INSIDE || (ALIGNED && at + 4 * W <= bytes)) {
        if constexpr (W % 4 == 0) {
#pragma unroll
            for (int k = 0; k < W; k += 4)
                store16(row + at + 4 * k, words + k);
        } else {
#pragma unroll
            for (int k = 0; k < W; k++)
                ((uint32_t *)(row + at))[k] = words[k];
        }
    } else {
        store_elements<T, W>(row, at, bytes, words);
    }
}

/* A row at any address, as whole 16-byte pieces: each thread stores the pieces that begin `ahead` bytes (0 to 15) after
   its own bytes, the first words of the thread after it with them, and the last thread nothing. */
template <typename T, int W, bool INSIDE>
TWI_DEVICE void store_pieces(char *row, unsigned ahead, int64_t at, int64_t bytes, const uint32_t *own)
{
    uint32_t both[W + 4];
    uint32_t words[W];
#pragma unroll
    for (int k = 0; k < W; k++)
        both[k] = own[k];
#pragma unroll
    for (int k = 0; k < 4; k++)
        both[W + k] = __shfl_down_sync(~0u, own[k], 1);
    skip_bytes<W>(both, ahead, words);
    const int64_t place = at + ahead;
    if (threadIdx.x == 31)
        return;
    if (INSIDE || (place >= 0 && place + 4 * W <= bytes)) {
#pragma unroll
        for (int k = 0; k < W; k += 4)
            store16(row + place + 4 * k, words + k);
    } else {
        store_elements<T, W>(row, place, bytes, words);
    }
}

#endif
