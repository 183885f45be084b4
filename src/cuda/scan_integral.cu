/*
 * integral of integers, whose sums are exact in any order: the pixels are read twice, the table is written once. A
 * pixel of the table is what lies above its chunk of rows, plus what lies left of its strip in the chunk, plus what
 * lies before it in both: sums     of each row of a strip, and before each column of a strip and chunk lefts    adds
 * the rows' sums of all strips before tops     adds the columns' sums of all chunks above, and what lies left of those
 *   table    the table, a warp a strip and chunk: four columns a lane, row after row
 * A lane's columns c, c + 1, c + 2, c + 3 of the table need the pixels before them: they begin where its pixels begin.
 */
#include "cuda/scan.cuh"

enum {
    STRIP = TWI_CUDA_STRIP,
    WARPS = TWI_CUDA_STRIP_WARPS,
    ROWS = 32 /* of which a lane each has the sums, */,
    DEPTH = 16 /* and that are loaded at a time */
};

/* Sums in a chunk of a strip, and of all. */
template <typename T> struct local_of {
    typedef uint32_t type;
};
template <> struct local_of<int32_t> {
    typedef uint64_t type;
};
template <typename O> struct sum_of {
    typedef uint64_t type;
};
template <> struct sum_of<uint32_t> {
    typedef uint32_t type;
};

template <typename A, typename T, typename L> static __device__ __forceinline__ A widen(L sum)
{
    return (T)-1 < (T)0 && sizeof(L) == 4 ? (A)(int64_t)(int32_t)sum : (A)sum;
}

static __device__ __forceinline__ uint32_t as_pixel(uint32_t, uint32_t sum)
{
    return sum;
}

static __device__ __forceinline__ uint64_t as_pixel(uint64_t, uint64_t sum)
{
    return sum;
}

static __device__ __forceinline__ double as_pixel(double, uint64_t sum)
{
    return (double)(int64_t)sum;
}

/* Four neighbours as words that are loaded at once. */
template <int BYTES> struct words_of;
template <> struct words_of<4> {
    typedef uint32_t type;
};
template <> struct words_of<8> {
    typedef uint2 type;
};
template <> struct words_of<16> {
    typedef uint4 type;
};

/* Adds the first j values of four to columns[j]. */
template <typename T, typename L>
static __device__ __forceinline__ void add_four(const typename words_of<4 * sizeof(T)>::type &words, L (&columns)[5])
{
    T values[4];
    L sum = 0;
    memcpy(values, &words, sizeof values);
#pragma unroll
    for (int j = 0; j < 4; j++) {
        sum += (L)values[j];
        columns[j + 1] += sum;
    }
}

template <> __device__ __forceinline__ void add_four<uint8_t, uint32_t>(const uint32_t &word, uint32_t (&columns)[5])
{
    columns[1] = __dp4a(word, 0x00000001u, columns[1]);
    columns[2] = __dp4a(word, 0x00000101u, columns[2]);
    columns[3] = __dp4a(word, 0x00010101u, columns[3]);
    columns[4] = __dp4a(word, 0x01010101u, columns[4]);
}

/* The warp's chunk of a strip, and the lane's columns in it. INSIDE: whole pieces of aligned rows inside the image. */
template <typename T> struct tile {
    typedef typename words_of<4 * sizeof(T)>::type words;
    const twi_cuda_integral &a;
    int64_t number; /* of the strip, among those of all channels */
    int64_t x;      /* the lane's first column */
    int32_t channel;
    int32_t chunk;
    int64_t top;
    int64_t bottom;
    const char *from; /* pixels of the image's first row */
    bool inside;      /* the strip */

    __device__ __forceinline__ explicit tile(const twi_cuda_integral &argument) : a(argument)
    {
        number = a.left + (int64_t)blockIdx.x * WARPS + threadIdx.y;
        channel = (int32_t)(number / a.strips);
        const int64_t left = (number - (int64_t)channel * a.strips) * STRIP;
        x = left + threadIdx.x * 4;
        chunk = (int32_t)(a.first + blockIdx.y);
        top = (int64_t)chunk * a.chunk_rows;
        bottom = min(top + a.chunk_rows, a.rows);
        from = (const char *)((const T *)a.src + x * a.channels + channel);
        inside = a.whole && left + STRIP <= a.width;
    }

    __device__ __forceinline__ bool exists() const
    {
        return channel < a.channels;
    }

    /* 0 beyond the image. */
    template <bool INSIDE> __device__ __forceinline__ words load(int64_t y) const
    {
        const T *const row = (const T *)(from + y * a.src_pitch);
        T values[4] = {};
        words four;
        if (INSIDE) {
            four = *(const words *)row;
        } else {
            for (int j = 0; j < 4; j++)
                if (x + j < a.width && y < bottom)
                    values[j] = row[j * a.channels];
            memcpy(&four, values, sizeof four);
        }
        return four;
    }

    /* The lane's columns of the table's row `y`. */
    template <bool INSIDE, typename O> __device__ __forceinline__ void store(int64_t y, const twi_four<O> &four) const
    {
        O *const to = (O *)((char *)a.dst + y * a.dst_pitch) + x * a.channels + channel;
        if (INSIDE) {
            const uint4 *const pieces = (const uint4 *)&four;
#pragma unroll
            for (int i = 0; i < (int)(sizeof four / sizeof *pieces); i++)
                ((uint4 *)to)[i] = pieces[i];
        } else {
            for (int j = 0; j < 4; j++)
                if (x + j <= a.width && y <= bottom)
                    to[j * a.channels] = four.value[j];
        }
    }

    template <typename A> __device__ __forceinline__ A *sums() const
    {
        return (A *)a.sums + number * (a.rows + a.chunks);
    }

    template <typename A> __device__ __forceinline__ twi_four<A> *tops() const
    {
        return (twi_four<A> *)((A *)a.tops + ((int64_t)channel * a.chunks + chunk) * a.strips * STRIP + x);
    }
};

/* ---- Sums of tiles ------------------------------------------------------------------------------------- */

/* Adds the rows from `top` on; returns the sum of the one of the lane's number. */
template <bool INSIDE, typename T, typename L>
static __device__ __forceinline__ L add_rows(const tile<T> &t, int64_t top, L (&columns)[5])
{
    L parts[ROWS / DEPTH];
#pragma unroll
    for (int part = 0; part < ROWS / DEPTH; part++) {
        typename tile<T>::words in[DEPTH];
        L rows[DEPTH];
#pragma unroll
        for (int j = 0; j < DEPTH; j++)
            in[j] = t.template load<INSIDE>(top + part * DEPTH + j);
#pragma unroll
        for (int j = 0; j < DEPTH; j++) {
            const L before = columns[4];
            add_four<T>(in[j], columns);
            rows[j] = columns[4] - before;
        }
        twi_fold<16, 1>(rows);
        twi_fold<8, 2>(rows);
        twi_fold<4, 4>(rows);
        twi_fold<2, 8>(rows);
        parts[part] = rows[0];
    }
    twi_fold<2, 16>(parts);
    return parts[0];
}

template <typename T, typename A>
static __global__ void __launch_bounds__(32 * WARPS, sizeof(T) == 4 ? 2 : 4) sums(const twi_cuda_integral a)
{
    typedef typename local_of<T>::type L;
    const tile<T> t(a);
    const int lane = (int)threadIdx.x;
    L columns[5] = {};
    if (!t.exists())
        return;
    for (int64_t top = t.top; top < t.bottom; top += ROWS) {
        const L sum =
            t.inside && top + ROWS <= t.bottom ? add_rows<true>(t, top, columns) : add_rows<false>(t, top, columns);
        if (top + lane < t.bottom)
            t.template sums<A>()[top + lane] = widen<A, T>(sum);
    }
    L total;
    const L before = twi_before_lane(columns[4], &total);
    twi_four<A> tops;
#pragma unroll
    for (int j = 0; j < 4; j++)
        tops.value[j] = widen<A, T>((L)(before + columns[j]));
    *t.template tops<A>() = tops;
    if (lane == 0)
        t.template sums<A>()[a.rows + t.chunk] = widen<A, T>(total);
}

/* ---- What lies left and above --------------------------------------------------------------------------- */

/* Each of `count` values that are `pitch` apart becomes the sum of those before it; `more` is added to each, if not
 * NULL.
 */
template <typename A>
static __device__ __forceinline__ void sum_before(A *at, int64_t pitch, int32_t count, const A *more)
{
    enum { DEPTH = 16 };
    A sum = 0;
    for (int32_t first = 0; first < count; first += DEPTH) {
        A values[DEPTH];
#pragma unroll
        for (int j = 0; j < DEPTH; j++)
            values[j] = first + j < count ? at[(first + j) * pitch] + (more ? more[first + j] : (A)0) : (A)0;
#pragma unroll
        for (int j = 0; j < DEPTH; j++) {
            if (first + j < count)
                at[(first + j) * pitch] = sum;
            sum += values[j];
        }
    }
}

template <typename A> static __global__ void __launch_bounds__(TWI_CUDA_CARRY_THREADS) lefts(const twi_cuda_integral a)
{
    const int64_t lines = a.rows + a.chunks;
    const int64_t i = a.left + (int64_t)blockIdx.x * TWI_CUDA_CARRY_THREADS + threadIdx.x;
    if (i < lines * a.channels)
        sum_before((A *)a.sums + i / lines * a.strips * lines + i % lines, lines, a.strips, (const A *)nullptr);
}

template <typename A> static __global__ void __launch_bounds__(TWI_CUDA_CARRY_THREADS) tops(const twi_cuda_integral a)
{
    const int64_t columns = (int64_t)a.strips * STRIP;
    const int64_t i = a.left + (int64_t)blockIdx.x * TWI_CUDA_CARRY_THREADS + threadIdx.x;
    if (i < columns * a.channels)
        sum_before((A *)a.tops + i / columns * a.chunks * columns + i % columns, columns, a.chunks,
                   (const A *)a.sums + i / STRIP * (a.rows + a.chunks) + a.rows);
}

/* ---- The table ----------------------------------------------------------------------------------------- */

/* Rows of the table below the image's from `top` on. `lefts`: what lies left of the strip, in the chunk down to the row
   of this lane's number. */
template <bool INSIDE, typename O, typename T, typename L, typename A>
static __device__ __forceinline__ void make_rows(const tile<T> &t, int64_t top, L (&columns)[5],
                                                 const twi_four<A> &above, A lefts)
{
#pragma unroll 1
    for (int part = 0; part < ROWS; part += DEPTH) {
        typename tile<T>::words in[DEPTH];
#pragma unroll
        for (int j = 0; j < DEPTH; j++)
            in[j] = t.template load<INSIDE>(top + part + j);
#pragma unroll
        for (int j = 0; j < DEPTH; j++) {
            L all;
            twi_four<O> out;
            add_four<T>(in[j], columns);
            const A before = __shfl_sync(~0u, lefts, part + j) + widen<A, T>(twi_before_lane(columns[4], &all));
#pragma unroll
            for (int k = 0; k < 4; k++)
                out.value[k] = as_pixel(O(), (A)(before + above.value[k] + widen<A, T>(columns[k])));
            t.template store<INSIDE>(top + part + j + 1, out);
        }
    }
}

template <typename T, typename O>
static __global__ void __launch_bounds__(32 * WARPS, 2) table(const twi_cuda_integral a)
{
    typedef typename local_of<T>::type L;
    typedef typename sum_of<O>::type A;
    const tile<T> t(a);
    L columns[5] = {};
    A left = 0; /* above the rows of this turn */
    if (!t.exists())
        return;
    const twi_four<A> above = *t.template tops<A>();
    if (t.chunk == 0)
        t.template store<false>(0, twi_four<O>{});
    for (int64_t top = t.top; top < t.bottom; top += ROWS) {
        A total;
        const int64_t y = top + threadIdx.x;
        const A own = y < t.bottom ? t.template sums<A>()[y] : (A)0;
        const A lefts = left + twi_before_lane(own, &total) + own;
        left += total;
        if (t.inside && top + ROWS <= t.bottom)
            make_rows<true, O>(t, top, columns, above, lefts);
        else
            make_rows<false, O>(t, top, columns, above, lefts);
    }
}

#define SUMS(T)                                                                                                        \
    {                                                                                                                  \
        (const void *)sums<T, uint32_t>, (const void *)sums<T, uint64_t>                                               \
    }
extern "C" const void *const twi_cuda_integral_sums[TWI_CUDA_SCAN_TYPES][2] = {
    SUMS(uint8_t), SUMS(uint16_t), SUMS(int16_t), {nullptr, (const void *)sums<int32_t, uint64_t>}};

#define TABLE(T, O) (const void *)table<T, O>
extern "C" const void *const twi_cuda_integral_table[TWI_CUDA_SCAN_TYPES][TWI_CUDA_OUTS] = {
    {TABLE(uint8_t, uint32_t), TABLE(uint8_t, uint64_t), TABLE(uint8_t, double)},
    {TABLE(uint16_t, uint32_t), TABLE(uint16_t, uint64_t), TABLE(uint16_t, double)},
    {TABLE(int16_t, uint32_t), TABLE(int16_t, uint64_t), TABLE(int16_t, double)},
    {nullptr, TABLE(int32_t, uint64_t), TABLE(int32_t, double)},
};

extern "C" const void *const twi_cuda_integral_lefts[2] = {(const void *)lefts<uint32_t>,
                                                           (const void *)lefts<uint64_t>};
extern "C" const void *const twi_cuda_integral_tops[2] = {(const void *)tops<uint32_t>, (const void *)tops<uint64_t>};
