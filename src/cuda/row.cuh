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

/* Bytes. Rows at any address are loaded and stored in pieces of this size, which begin at its multiples. */
#define TWI_PIECE 8

/* The extended row of a thread that makes 4 * W bytes of outputs, of type T with C channels. */
template <typename T, int C, int W> struct extended {
    static constexpr int size = (int)sizeof(T);
    static constexpr int own = 4 * W / size;              /* elements that the thread makes */
    static constexpr int halo_words = (C * size + 3) / 4; /* on either side */
    static constexpr int words = W + 2 * halo_words;
    static constexpr int first = 4 * halo_words / size; /* the first own element, counted in the extended row */
};

/* The bytes that a warp stores: all of its threads' where rows begin at multiples of 16. At any other address a thread
   stores from the piece before its own bytes on, 1 to TWI_PIECE bytes early, and only threads first ... last - 1 store:
   all that their outputs need was loaded by threads of the same warp. */
template <typename T, int C, int W, bool ALIGNED> struct span {
    static constexpr int pixel = C * (int)sizeof(T);
    static constexpr int first = ALIGNED ? 0 : (pixel + TWI_PIECE + 4 * W - 1) / (4 * W);
    static constexpr int last = ALIGNED || C == 1 ? 32 : 31;
    static constexpr int before = first * 4 * W;
    static constexpr int warp = (last - first) * 4 * W;
    static constexpr int beyond = ALIGNED ? 0 : TWI_PIECE; /* bytes that warps must cover beyond a row's end */
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

/* N words that begin `shift` bits into the given ones; only shift % 32 counts. */
template <int N> TWI_DEVICE void funnel(const uint32_t *from, unsigned shift, uint32_t *words)
{
#pragma unroll
    for (int k = 0; k < N; k++)
        words[k] = __funnelshift_r(from[k], from[k + 1], shift);
}

/* N words that begin `skip` bytes into the given ones, a piece more; only skip % TWI_PIECE counts. */
template <int N> TWI_DEVICE void skip_bytes(const uint32_t *from, unsigned skip, uint32_t *words)
{
    uint32_t moved[N + 1];
#pragma unroll
    for (int k = 0; k < N + 1; k++)
        moved[k] = skip & 4 ? from[k + 1] : from[k];
    funnel<N>(moved, skip * 8, words);
}

/* ---- Loading: a warp, each byte once ------------------------------------------------------------- */

/* Whether all bytes of a warp lie inside a row, and those of its first and last pieces. */
template <int W> TWI_DEVICE bool columns_inside(int64_t begin, int64_t bytes)
{
    return begin >= TWI_PIECE && begin + 128 * W + TWI_PIECE <= bytes;
}

/* Whether a warp needs no care: all its rows exist, all its loads lie inside the image's memory, and each halo is
   either wholly inside or wholly outside. */
template <typename T, int C, int W, int ROWS, bool ALIGNED>
TWI_DEVICE bool warp_inside(const twi_cuda_box &box, int64_t begin, int64_t y, bool whole)
{
    constexpr int pixel = C * (int)sizeof(T);
    const int64_t end = begin + 128 * W;
    const int64_t bytes = box.width * pixel;
    if (y == 0 || y + ROWS >= box.height || y + ROWS > box.last)
        return false;
    if (ALIGNED)
        return end == bytes || end + pixel <= bytes;
    /* bytes beside a row are those of the rows before and after, and replaced after they were loaded */
    return whole || (y > box.first && y + ROWS + 1 < box.height && y + ROWS < box.last &&
                     box.src_pitch >= 128 * W + 2 * TWI_PIECE);
}

/* The piece that holds a byte of an image. */
TWI_DEVICE uintptr_t piece_of(uintptr_t byte)
{
    return byte / TWI_PIECE * TWI_PIECE;
}

/* The pieces that hold a thread's words. */
template <int W> TWI_DEVICE void load_pieces(const char *address, uint32_t *pieces)
{
    const char *first = (const char *)piece_of((uintptr_t)address);
#pragma unroll
    for (int k = 0; k < W + TWI_PIECE / 4; k += 2) {
        const uint2 v = __ldg((const uint2 *)(first + 4 * k));
        pieces[k] = v.x;
        pieces[k + 1] = v.y;
    }
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
    constexpr int margin = ALIGNED ? 0 : TWI_PIECE;
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

/* The words to the left of a warp in its first thread, those to its right in its last; only their pixel next to the
   warp counts. */
template <typename T, int C, int N, bool INSIDE, int WORDS>
TWI_DEVICE void load_halo(const twi_cuda_box &box, const char *const *row, int64_t begin, int64_t end,
                          uint32_t (*halo)[WORDS])
{
    constexpr int size = (int)sizeof(T);
    constexpr int pixel = C * size;
    const bool left = threadIdx.x == 0;
    const bool reads = left || threadIdx.x == 31;
    if (INSIDE && begin > 0 && end + 4 * WORDS <= box.width * pixel) {
        const char *from = row[0] + (left ? begin - 4 * WORDS : end);
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int k = 0; k < WORDS; k++)
                halo[i][k] = reads ? __ldg((const uint32_t *)(from + i * box.src_pitch) + k) : 0;
        return;
    }
    uint32_t before[N][WORDS] = {};
    uint32_t after[N][WORDS] = {};
#pragma unroll
    for (int c = 0; c < C; c++) {
        const int64_t place = source_byte<pixel>(box, left ? begin - pixel + c * size : end + c * size);
#pragma unroll
        for (int i = 0; i < N; i++) {
            T value = (T)box.value;
            if (reads && place >= 0 && (INSIDE || row[i]))
                value = __ldg((const T *)(row[i] + place));
            put_element<T>(before[i], 4 * WORDS / size - C + c, value);
            put_element<T>(after[i], c, value);
        }
    }
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int k = 0; k < WORDS; k++)
            halo[i][k] = left ? before[i][k] : after[i][k];
}

/* Replaces the element at byte `place` of a thread's words, if it is one of them. */
template <typename T, int W> TWI_DEVICE void replace_element(uint32_t *words, int place, T value)
{
    constexpr int size = (int)sizeof(T);
    const int shift = place % 4 * 8;
    const uint32_t mask = size < 4 ? (1u << size * 8 % 32) - 1 : ~0u;
    uint32_t bits[2] = {};
    put_element<T>(bits, 0, value);
#pragma unroll
    for (int k = 0; k < W; k++) {
        if (4 * k == (place & ~3))
            words[k] = (words[k] & ~(mask << shift)) | bits[0] << shift;
        if (size == 8 && 4 * k == place + 4)
            words[k] = bits[1];
    }
}

/* Replaces the pixels beside a row, where they are a thread's own, by what the border's rule says. */
template <typename T, int C, int W, int N>
TWI_DEVICE void replace_beside(const twi_cuda_box &box, const char *const *row, int64_t at, uint32_t (*own)[W])
{
    constexpr int size = (int)sizeof(T);
    constexpr int pixel = C * size;
#pragma unroll 1
    for (int side = 0; side < 2; side++) {
        const int64_t place = (side ? box.width * pixel : -pixel) - at;
        const int64_t from = side ? box.column_after : box.column_before;
        if (place <= -pixel || place >= 4 * W)
            continue;
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (from < 0) {
#pragma unroll
                for (int c = 0; c < C; c++)
                    replace_element<T, W>(own[i], (int)place + c * size, (T)box.value);
            } else {
#pragma unroll
                for (int c = 0; c < C; c++)
                    replace_element<T, W>(own[i], (int)place + c * size, __ldg((const T *)(row[i] + from * pixel) + c));
            }
        }
    }
}

/* Extended rows of the rows from y - 1 on, for a warp that begins at byte `begin`. Each byte is loaded once in a
   warp; halos come from the neighbouring threads, and where rows begin at any address, the first and the last thread
   have none on one side. INSIDE: the warp needs no care; whole: it is columns_inside. Without HALOS those words are
   left as they are. */
template <typename T, int C, int W, int N, bool ALIGNED, bool INSIDE, bool HALOS>
TWI_DEVICE void load_rows(const twi_cuda_box &box, int64_t begin, int64_t y, bool whole,
                          uint32_t (*x)[extended<T, C, W>::words])
{
    using row_type = extended<T, C, W>;
    constexpr int side = row_type::halo_words;
    const int lane = threadIdx.x;
    const int64_t at = begin + lane * (4 * W);
    constexpr int count = ALIGNED ? W : W + TWI_PIECE / 4;
    const char *row[N];
    uint32_t pieces[N][count];
    uint32_t own[N][W];
    uint32_t halo[N][side];
#pragma unroll
    for (int i = 0; i < N; i++) {
        if (INSIDE)
            row[i] = i == 0 ? (const char *)box.src + y * box.src_pitch - box.src_pitch : row[i - 1] + box.src_pitch;
        else
            row[i] = source_row(box, y - 1 + i);
    }
    const bool joined = load_own<T, C, W, N, ALIGNED, INSIDE, count>(box, row, at, pieces);
    if (ALIGNED)
        load_halo<T, C, N, INSIDE, side>(box, row, begin, begin + 128 * W, halo);
#pragma unroll
    for (int i = 0; i < N; i++) {
        const unsigned skip = INSIDE || (joined && row[i]) ? (unsigned)(uintptr_t)(row[i] + at) : 0;
        if constexpr (ALIGNED) {
#pragma unroll
            for (int k = 0; k < W; k++)
                own[i][k] = pieces[i][k];
        } else {
            skip_bytes<W>(pieces[i], skip, own[i]);
        }
    }
    if (!ALIGNED && INSIDE && !whole)
        replace_beside<T, C, W, N>(box, row, at, own);
#pragma unroll
    for (int i = 0; i < N; i++) {
#pragma unroll
        for (int k = 0; HALOS && k < side; k++) {
            x[i][k] = __shfl_up_sync(~0u, own[i][W - side + k], 1);
            x[i][side + W + k] = __shfl_down_sync(~0u, own[i][k], 1);
            if (ALIGNED && lane == 0)
                x[i][k] = halo[i][k];
            if (ALIGNED && lane == 31)
                x[i][side + W + k] = halo[i][k];
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

/* Of a thread's 4 * W bytes, which belong at `to`, those that lie inside the row. The loop is not unrolled for the same
   reason as above. */
template <typename T, int W> TWI_DEVICE void store_elements(char *to, int64_t at, int64_t bytes, const uint32_t *words)
{
    constexpr int size = (int)sizeof(T);
    constexpr int step = size == 8 ? 2 : 1;
    int begin = at < -4 * W ? 4 * W : at < 0 ? (int)-at : 0;
    int end = at >= bytes ? 0 : bytes - at < 4 * W ? (int)(bytes - at) : 4 * W;
    uint32_t left[W];
#pragma unroll
    for (int k = 0; k < W; k++)
        left[k] = words[k];
#pragma unroll 1
    for (int k = 0; k < W; k += step, begin -= 4 * step, end -= 4 * step, to += 4 * step) {
#pragma unroll
        for (int e = 0; e < 4 * step / size; e++)
            if (e * size >= begin && e * size < end)
                *(T *)(to + e * size) = get_element<T>(left, e);
#pragma unroll
        for (int j = 0; j < W - step; j++)
            left[j] = left[j + step];
    }
}

/* A thread's words at its own bytes. */
template <typename T, int W, bool INSIDE>
TWI_DEVICE void store_own(char *row, int64_t at, int64_t bytes, const uint32_t *words)
{
    if (INSIDE || at + 4 * W <= bytes) {
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
        store_elements<T, W>(row + at, at, bytes, words);
    }
}

/* An address made from integers is not known to be global memory, and would get slower instructions. */
TWI_DEVICE void store8(uintptr_t address, const uint32_t *words)
{
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(address), "r"(words[0]), "r"(words[1]) : "memory");
}

/* Rows at any address, as aligned pieces: each thread stores its own bytes but the last 1 to TWI_PIECE, and before them
   as many of the thread before it. `out` does not survive. */
template <typename T, int C, int W, int ROWS, bool INSIDE>
TWI_DEVICE void store_rows(const twi_cuda_box &box, int64_t begin, int64_t y, bool whole, uint32_t (*out)[W])
{
    using s = span<T, C, W, false>;
    constexpr int before = TWI_PIECE / 4;
    const int64_t bytes = box.width * C * (int64_t)sizeof(T);
    const int64_t at = begin + threadIdx.x * (4 * W);
    const uintptr_t last = (uintptr_t)box.dst + y * box.dst_pitch + at - 1; /* of the thread before */
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        uint32_t both[before + W];
#pragma unroll
        for (int k = 0; k < before; k++)
            both[k] = __shfl_up_sync(~0u, out[r][W - before + k], 1);
#pragma unroll
        for (int k = 0; k < W; k++)
            both[before + k] = out[r][k];
        skip_bytes<W>(both, ~(unsigned)(last + r * box.dst_pitch), out[r]);
    }
    if ((int)threadIdx.x < s::first || (int)threadIdx.x >= s::last)
        return;
    if (INSIDE && whole) {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int k = 0; k < W; k += 2)
                store8(piece_of(last + r * box.dst_pitch) + 4 * k, out[r] + k);
        return;
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const uintptr_t end = last + r * box.dst_pitch;
        if (INSIDE || y + r < box.last)
            store_elements<T, W>((char *)piece_of(end), at - 1 - (int64_t)(end % TWI_PIECE), bytes, out[r]);
    }
}

#endif
