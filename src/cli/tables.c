/* The two tables of the command line: commands and options. */
#include <limits.h>

#include "cli/args.h"
#include "cli/values.h"

/* ---- Commands ------------------------------------------------------------------------------------ */

#define FILTER_OPERANDS "INPUT... OUTPUT", 2, INT_MAX, TWI_OPERAND_FILE

const twi_command twi_commands[TWI_COMMAND_COUNT] = {
    [TWI_BOX] =
        {
            "box",
            FILTER_OPERANDS,
            "mean over a window",
            "Replaces each pixel by the mean of the window around it: 3x3 unless --radius or --size says otherwise. "
            "Each channel is filtered by itself, and the result has the input's type. Integer sums are exact and "
            "always divided by the whole window, at the border too.",
            {"tilewise box photo.png blurred.png", "tilewise box -r 7 --border mirror photo.jpg blurred.tif",
             "tilewise box --size 5x1 - - < in.png > out.png"},
            twi_command_filter,
        },
    [TWI_CORRELATE] =
        {
            "correlate",
            FILTER_OPERANDS,
            "sum of a window weighted by a mask",
            "Each pixel becomes the sum of the window around it, weighted by --mask, divided by --divisor, plus "
            "--offset, limited to the range of the output's type. An integer mask on integer pixels is exact; "
            "otherwise the sum is one of fused multiply-adds in f32 (f64 for f64 pixels). The mask is not turned: "
            "convolve turns it.",
            {"tilewise correlate --mask '1 2 1; 2 4 2; 1 2 1' --divisor sum photo.png smooth.png",
             "tilewise correlate --mask edges.npy --dtype i16 photo.png edges.tif"},
            twi_command_filter,
        },
    [TWI_CONVOLVE] =
        {
            "convolve",
            FILTER_OPERANDS,
            "the same with the mask turned by 180 degrees",
            "As correlate, with the mask, and the anchor with it, turned by 180 degrees: a single bright pixel becomes "
            "a picture of the mask.",
            {"tilewise convolve --mask '1 2 3; 4 5 6; 7 8 9' --divisor 45 in.png out.png"},
            twi_command_filter,
        },
    [TWI_SEPCONV] =
        {
            "sepconv",
            FILTER_OPERANDS,
            "correlation with a row and a column of numbers",
            "As correlate with the product of a column and a row of numbers as its mask. Integers give the same result "
            "as the product would, in less time; floats go over the row first, then over the column.",
            {"tilewise sepconv --row '1 4 6 4 1' --col '1 4 6 4 1' --divisor sum in.png out.png"},
            twi_command_filter,
        },
    [TWI_GAUSSIAN] =
        {
            "gaussian",
            FILTER_OPERANDS,
            "Gaussian blur",
            "Weights each pixel's surroundings by a Gaussian curve, along x and y. The curve ends at --truncate times "
            "sigma, rounded up, or where --size or --radius says. A constant image stays constant, but for the "
            "last bits of f64.",
            {"tilewise gaussian --sigma 2.5 photo.png blurred.png",
             "tilewise gaussian --sigma 5,0 --border mirror in.tif out.tif"},
            twi_command_filter,
        },
    [TWI_SOBEL] =
        {
            "sobel",
            FILTER_OPERANDS,
            "derivative along x or y, the mask of Sobel",
            "The integer mask -1 0 1, -2 0 2, -1 0 1 for a derivative to the right, or its transpose for one downward "
            "(--axis y). The result has the input's type unless --dtype says otherwise: unsigned types cut off what is "
            "below 0.",
            {"tilewise sobel --axis y --dtype i16 photo.png edges.tif"},
            twi_command_filter,
        },
    [TWI_SCHARR] =
        {
            "scharr",
            FILTER_OPERANDS,
            "derivative along x or y, the mask of Scharr",
            "The integer mask -3 0 3, -10 0 10, -3 0 3 for a derivative to the right, or its transpose for one "
            "downward (--axis y). The result has the input's type unless --dtype says otherwise: unsigned types cut "
            "off what is below 0.",
            {"tilewise scharr --axis y --dtype i16 photo.png edges.tif"},
            twi_command_filter,
        },
    [TWI_PREWITT] =
        {
            "prewitt",
            FILTER_OPERANDS,
            "derivative along x or y, the mask of Prewitt",
            "The integer mask -1 0 1, -1 0 1, -1 0 1 for a derivative to the right, or its transpose for one downward "
            "(--axis y). The result has the input's type unless --dtype says otherwise: unsigned types cut off what is "
            "below 0.",
            {"tilewise prewitt --axis y --dtype i16 photo.png edges.tif"},
            twi_command_filter,
        },
    [TWI_LAPLACIAN] =
        {
            "laplacian",
            FILTER_OPERANDS,
            "sum of the second derivatives",
            "The integer mask 0 1 0, 1 -4 1, 0 1 0. The result has the input's type unless --dtype says otherwise: "
            "unsigned types cut off what is below 0; --offset 128 moves it into view.",
            {"tilewise laplacian --offset 128 photo.png edges.png"},
            twi_command_filter,
        },
    [TWI_MIN] =
        {
            "min",
            FILTER_OPERANDS,
            "lowest value of a window (erosion)",
            "Each pixel becomes the lowest of the window around it. The window is 3x3 unless --radius, --size or "
            "--footprint says otherwise; --shape takes a part of it. Floats are ordered -inf to inf, then NaN.",
            {"tilewise min -r 2 --shape ellipse in.png out.png",
             "tilewise min --border ignore --iterations 3 in.png out.png"},
            twi_command_filter,
        },
    [TWI_MAX] =
        {
            "max",
            FILTER_OPERANDS,
            "highest value of a window (dilation)",
            "Each pixel becomes the highest of the window around it. The window is 3x3 unless --radius, --size or "
            "--footprint says otherwise; --shape takes a part of it. Floats are ordered -inf to inf, then NaN.",
            {"tilewise max --size 5x1 in.png out.png"},
            twi_command_filter,
        },
    [TWI_MEDIAN] =
        {
            "median",
            FILTER_OPERANDS,
            "middle value of a window",
            "Each pixel becomes the middle one of the window's values in order; of an even number n of them, the one "
            "of rank n/2. The window is 3x3 unless --radius, --size or --footprint says otherwise; --shape takes a "
            "part of it. Floats are ordered -inf to inf, then NaN.",
            {"tilewise median -r 2 noisy.png clean.png", "tilewise median --resume 'scans/*.tif' clean/"},
            twi_command_filter,
        },
    [TWI_RANK] =
        {
            "rank",
            FILTER_OPERANDS,
            "value of a given rank in a window",
            "Each pixel becomes the value of rank --k, or of that --percentile, among the window's. The window is 3x3 "
            "unless --radius, --size or --footprint says otherwise; --shape takes a part of it. Floats are ordered "
            "-inf to inf, then NaN.",
            {"tilewise rank --percentile 25 -r 3 in.png out.png", "tilewise rank --k 1 in.png out.png"},
            twi_command_filter,
        },
    [TWI_OPEN] =
        {
            "open",
            FILTER_OPERANDS,
            "erosion, then dilation: removes small bright spots",
            "min, --iterations times, then max as often, with the window turned by 180 degrees so that nothing shifts. "
            "The window is 3x3 unless --radius, --size or --footprint says otherwise; --shape takes a part of it.",
            {"tilewise open -r 2 --shape ellipse in.png out.png"},
            twi_command_filter,
        },
    [TWI_CLOSE] =
        {
            "close",
            FILTER_OPERANDS,
            "dilation, then erosion: fills small dark spots",
            "max, --iterations times, then min as often, with the window turned by 180 degrees so that nothing shifts. "
            "The window is 3x3 unless --radius, --size or --footprint says otherwise; --shape takes a part of it.",
            {"tilewise close -r 2 in.png out.png"},
            twi_command_filter,
        },
    [TWI_GRADIENT] =
        {
            "gradient",
            FILTER_OPERANDS,
            "dilation less erosion: edges",
            "max less min of the window. Differences stay within the type's range. The window is 3x3 unless --radius, "
            "--size or --footprint says otherwise; --shape takes a part of it.",
            {"tilewise gradient photo.png edges.png"},
            twi_command_filter,
        },
    [TWI_TOPHAT] =
        {
            "tophat",
            FILTER_OPERANDS,
            "the image less its opening: small bright spots",
            "What open takes away. Differences stay within the type's range. The window is 3x3 unless --radius, --size "
            "or --footprint says otherwise; --shape takes a part of it.",
            {"tilewise tophat -r 5 cells.png spots.png"},
            twi_command_filter,
        },
    [TWI_BLACKHAT] =
        {
            "blackhat",
            FILTER_OPERANDS,
            "the closing less the image: small dark spots",
            "What close adds. Differences stay within the type's range. The window is 3x3 unless --radius, --size or "
            "--footprint says otherwise; --shape takes a part of it.",
            {"tilewise blackhat -r 5 page.png ink.png"},
            twi_command_filter,
        },
    [TWI_TRANSPOSE] =
        {
            "transpose",
            FILTER_OPERANDS,
            "rows become columns",
            "Exchanges rows and columns: the pixel in column x of row y goes to column y of row x. Pixels are moved "
            "whole. The resolution and the georeference are turned with them; an orientation becomes 1.",
            {"tilewise transpose photo.png turned.png"},
            twi_command_filter,
        },
    [TWI_ROTATE] =
        {
            "rotate",
            FILTER_OPERANDS,
            "quarter turns, clockwise",
            "Turns the image clockwise by --degrees 90, 180 or 270. Pixels are moved whole. The resolution and the "
            "georeference are turned with them; an orientation becomes 1.",
            {"tilewise rotate --degrees 90 photo.jpg upright.png",
             "find in -type f -print0 | tilewise rotate --degrees 180 --files-from - out/"},
            twi_command_filter,
        },
    [TWI_FLIP] =
        {
            "flip",
            FILTER_OPERANDS,
            "mirror images",
            "Exchanges left and right (--axis horizontal), top and bottom (vertical), or both. Pixels are moved whole. "
            "The georeference is turned with them; an orientation becomes 1.",
            {"tilewise flip --axis horizontal photo.png mirrored.png"},
            twi_command_filter,
        },
    [TWI_LUT] =
        {
            "lut",
            FILTER_OPERANDS,
            "replace values by a table's",
            "Each value of a u8 or u16 image is replaced by that entry of --table, which has 256 or 65536 of them: for "
            "all channels, or in a row for each. The result has the input's type where that holds every entry, else "
            "the first of u8, u16, i16, i32, f32 and f64 that does, unless --dtype says otherwise.",
            {"tilewise lut --table gamma.npy photo.png brighter.png"},
            twi_command_filter,
        },
    [TWI_SCAN] =
        {
            "scan",
            FILTER_OPERANDS,
            "running sums along rows, down columns or over all",
            "Each pixel becomes the sum of the pixels from the line's beginning to itself; with --exclusive, to the "
            "one "
            "before. Lines are the rows, the columns (--axis y), or all rows as one line (--axis all). Integers are "
            "exact: the result has the first of u32, u64 (i32, i64 for signed pixels) that holds the sum of so many "
            "of the image's values, whatever they are. Floats are added in f64 in an order that no device changes. "
            ".npy holds all of these types.",
            {"tilewise scan photo.png sums.npy", "tilewise scan --axis all --exclusive --dtype u64 in.png out.npy"},
            twi_command_filter,
        },
    [TWI_INTEGRAL] =
        {
            "integral",
            FILTER_OPERANDS,
            "summed-area table, a column and a row larger",
            "Pixel (x, y) of the result is the sum of the x by y pixels in the image's upper left corner, so that any "
            "rectangle's sum takes four pixels. The result has the first of u32, u64 (i32, i64 for signed pixels) that "
            "holds the sum of all of the image's values, whatever they are; f64 for floats. .npy holds all of these "
            "types.",
            {"tilewise integral photo.png table.npy", "tilewise integral --format npy 'frames/*.png' tables/"},
            twi_command_filter,
        },
    [TWI_STATS] =
        {
            "stats",
            "INPUT...",
            1,
            INT_MAX,
            TWI_OPERAND_FILE,
            "sum, mean, variance, extremes and histogram of an image",
            "Prints figures of the image, or of each of its rows or columns, channel by channel: the sum, the mean, "
            "variance and standard deviation of the population, the lowest and highest value and where they are first, "
            "and how many values are not 0. Sums of integers are exact; floats are added in an order that does not "
            "depend on the device.",
            {"tilewise stats photo.png", "tilewise stats --json --axis x --figures mean,std scan.tif",
             "tilewise stats --json 'frames/*.png'"},
            twi_command_stats,
        },
    [TWI_VERIFY] =
        {
            "verify",
            "[OP]",
            0,
            1,
            TWI_OPERAND_OP,
            "compare every variant with the reference",
            "Runs every variant of the operation (of all operations if none is named; median and the like stand for "
            "the "
            "operation that they are a case of) on this machine's devices and "
            "compares it, byte for byte, with the scalar reference: first on the classic cases, then on random ones. "
            "Prints one line a case, below its operation's name where all are run. Exit code 1 if a variant differs, "
            "with the first wrong pixel.",
            {"tilewise verify box", "tilewise verify box --device cuda --variant direct,tiled"},
            twi_command_verify,
        },
    [TWI_BENCH] =
        {
            "bench",
            "OP",
            1,
            1,
            TWI_OPERAND_OP,
            "time the variants against a plain copy",
            "Times every variant that can do the problem and agrees with the reference, and a plain copy of the same "
            "images in the same run. The options describe the images and the filter; without --mask, --row and --col a "
            "mask of --window small integers is taken. The text says what each figure includes and leaves out.",
            {"tilewise bench box --size 16384x16384",
             "tilewise bench box --size 1003x769 --graph --variant tiled,direct",
             "tilewise bench median --window 5x5 --dtype u16 --report reports"},
            twi_command_bench,
        },
    [TWI_TUNE] =
        {
            "tune",
            "OP",
            1,
            1,
            TWI_OPERAND_OP,
            "measure which variant is the fastest, and remember it",
            "Times the variants on this machine for the images and the filter that the options describe, and keeps the "
            "fastest in a wisdom file: what other commands then choose for such images, of up to half and twice that "
            "size. Only the time depends on it, never a result. The file is $TILEWISE_WISDOM, without it "
            "tilewise/wisdom in $XDG_CACHE_HOME or ~/.cache; it may be deleted at any time. An empty TILEWISE_WISDOM "
            "switches it off.",
            {"tilewise tune box --size 16384x16384", "tilewise tune median --window 5x5 --dtype u16 --device cuda"},
            twi_command_tune,
        },
    [TWI_EXPLAIN] =
        {
            "explain",
            "[OP]",
            0,
            1,
            TWI_OPERAND_OP,
            "list an operation's variants, or say what one does to memory",
            "With --list, prints each variant of the operation, the back end it runs on, what it is, and whether it "
            "can do the problem that the other options describe on this machine; if not, why. Without an operation it "
            "prints the variants of all. With --variant, "
            "calculates from the accesses that a CUDA variant declares what a block in the image's middle and the "
            "whole image ask of memory: requests and 32-byte sectors, the bank of each lane and conflicts in shared "
            "memory, cycles of constant memory, barriers; no GPU is needed but for registers and occupancy.",
            {"tilewise explain --list box --dtype f32 --window 31x31",
             "tilewise explain box --variant tiled --block 16x16",
             "tilewise explain transpose --dtype f32 --variant shared --svg banks.svg"},
            twi_command_explain,
        },
    [TWI_INFO] =
        {
            "info",
            "",
            0,
            0,
            TWI_OPERAND_NONE,
            "what this build and this machine can do",
            "Prints the version, how the program was built, the processor's features, the GPUs (or why none can be "
            "used), and the file formats.",
            {"tilewise info", "tilewise info --json"},
            twi_command_info,
        },
    [TWI_HELP] =
        {
            "help",
            "[COMMAND]",
            0,
            1,
            TWI_OPERAND_COMMAND,
            "this text, or a command's own",
            "Prints the help of a command, or the list of commands. --man prints the manual page, --completion the "
            "completions of a shell; both are made from the same tables as this text.",
            {"tilewise help box", "tilewise help --man | man -l -", "source <(tilewise help --completion bash)"},
            twi_command_help,
        },
};

/* ---- Options ------------------------------------------------------------------------------------- */

#define FOR(command) (UINT64_C(1) << TWI_##command)
#define MASKED (FOR(CORRELATE) | FOR(CONVOLVE) | FOR(SEPCONV))
#define DIRECTED (FOR(SOBEL) | FOR(SCHARR) | FOR(PREWITT))
#define DERIVATIVES (DIRECTED | FOR(LAPLACIAN))
#define WEIGHING (MASKED | DERIVATIVES)
#define EXTREMES (FOR(MIN) | FOR(MAX))
#define MORPHOLOGY (FOR(OPEN) | FOR(CLOSE) | FOR(GRADIENT) | FOR(TOPHAT) | FOR(BLACKHAT))
#define ORDERING (EXTREMES | FOR(MEDIAN) | FOR(RANK) | MORPHOLOGY)
#define WINDOWED (FOR(BOX) | FOR(GAUSSIAN) | ORDERING)
#define TURNING (FOR(TRANSPOSE) | FOR(ROTATE) | FOR(FLIP))
#define KEEPING (WINDOWED | TURNING) /* the input's type */
#define BORDERED (WINDOWED | WEIGHING)
#define SUMMING (FOR(SCAN) | FOR(INTEGRAL))
#define FILTERS (BORDERED | TURNING | FOR(LUT) | SUMMING)
#define REPLICATING (BORDERED & ~(FOR(BOX) | EXTREMES | MORPHOLOGY))
#define READING (FILTERS | FOR(STATS))
#define PROBLEMS (FOR(BENCH) | FOR(TUNE) | FOR(EXPLAIN)) /* commands that describe an image instead of reading one */
#define WORKING (READING | FOR(VERIFY) | FOR(BENCH))
#define EVERY ((UINT64_C(1) << TWI_COMMAND_COUNT) - 1)

#define RADIUS_LEGAL "a whole number, 0 to 32767"
#define RADIUS_HELP "window of 2N+1 by 2N+1 pixels"
#define WINDOW_LEGAL "WxH or N, each 1 to 65535"
#define TYPE_LEGAL "u8, u16, i16, i32, f32 or f64"
#define TYPE_WORDS "u8 u16 i16 i32 f32 f64"
#define SUM_LEGAL "u32, i32, u64, i64, f32 or f64"
#define SUM_WORDS "u32 i32 u64 i64 f32 f64"
#define FIGURES_LEGAL "names split by commas: sum, mean, var, std, min, max, argmin, argmax, count_nonzero"
#define FIGURES_WORDS "sum mean var std min max argmin argmax count_nonzero"
#define BORDER_LEGAL "zero, constant:V, replicate, reflect, mirror or wrap"
#define BORDER_WORDS "zero constant: replicate reflect mirror wrap"
#define BORDER_HELP(zero, replicate, more)                                                                             \
    "what positions outside the image read, for a row abcd: zero 00|abcd|00" zero                                      \
    ", constant:V VV|abcd|VV, replicate aa|abcd|dd" replicate                                                          \
    ", reflect ba|abcd|dc, mirror cb|abcd|cb, wrap cd|abcd|ab" more                                                    \
    "; the names of OpenCV (BORDER_REFLECT_101) and SciPy (nearest) are understood too"
#define NUMBERS_HELP "rows split by ';', columns by blanks or commas; or a file, text or .npy"

const twi_option twi_options[] = {
    {'r', WINDOWED, "radius", "N", twi_set_radius, RADIUS_LEGAL, NULL, RADIUS_HELP},
    {'r', PROBLEMS, "radius", "N", twi_set_radius, RADIUS_LEGAL, NULL, RADIUS_HELP},
    {0, WINDOWED & ~FOR(GAUSSIAN), "size", "WxH", twi_set_window, WINDOW_LEGAL, NULL,
     "window of W by H pixels, or N by N (default 3x3)"},
    {0, FOR(GAUSSIAN), "size", "WxH", twi_set_window, WINDOW_LEGAL ", odd", NULL,
     "window of W by H pixels, or N by N, all odd (default: as far as sigma and --truncate say)"},
    {0, PROBLEMS, "window", "WxH", twi_set_window, WINDOW_LEGAL, NULL,
     "window of W by H pixels, or N by N (default 3x3; gaussian: that of sigma)"},
    {0, FOR(CORRELATE) | FOR(CONVOLVE) | PROBLEMS, "mask", "NUMBERS", twi_set_mask,
     "numbers such as '1 2 1; 2 4 2; 1 2 1', or the name of a file", NULL,
     "the weights, at most 255x255: " NUMBERS_HELP
     ". Whole numbers stay exact; a decimal point or an exponent anywhere makes them all floats. A file whose name "
     "looks like numbers is named with ./ before it"},
    {0, FOR(SEPCONV) | PROBLEMS, "row", "NUMBERS", twi_set_row, "numbers such as '1 2 1', or the name of a file", NULL,
     "weights along x, at most 255, as for --mask of correlate"},
    {0, FOR(SEPCONV) | PROBLEMS, "col", "NUMBERS", twi_set_column, "numbers such as '1 2 1', or the name of a file",
     NULL, "weights along y, at most 255"},
    {0, WEIGHING | PROBLEMS, "divisor", "N", twi_set_divisor, "a number that is not 0, or sum", "sum",
     "the sum of the weighted pixels is divided by it (default 1); sum is the sum of the weights"},
    {0, WEIGHING | PROBLEMS, "offset", "N", twi_set_offset, "a number", NULL, "added after the division (default 0)"},
    {0, FOR(GAUSSIAN) | PROBLEMS, "sigma", "S[,S]", twi_set_sigma, "S or S,S: numbers of 0 or more", NULL,
     "the curve's width in pixels, or that along x and that along y (default 1); 0 leaves an axis alone"},
    {0, FOR(GAUSSIAN) | PROBLEMS, "truncate", "T", twi_set_truncate, "a number above 0", NULL,
     "the curve ends at ceil(T * sigma) pixels from its middle (default 4)"},
    {0, DIRECTED, "axis", "x|y", twi_set_direction, "x or y", "x y",
     "direction of the derivative: x (default) grows to the right, y downward"},
    {0, FOR(FLIP), "axis", "NAME", twi_set_flip, "horizontal, vertical or both", "horizontal vertical both",
     "what is exchanged: left and right (horizontal), top and bottom (vertical), or both"},
    {0, FOR(SCAN), "axis", "x|y|all", twi_set_lines, "x, y or all", "x y all",
     "sums along rows (x, default), down columns (y), or over all rows as one line (all)"},
    {0, FOR(STATS), "axis", "x|y|all", twi_set_lines, "x, y or all", "x y all",
     "figures of each row (x), of each column (y), or of the whole image (all, the default)"},
    {0, PROBLEMS, "axis", "NAME", twi_set_any_axis,
     "x or y; for scan and stats also all; for flip horizontal, vertical or both", "x y all horizontal vertical both",
     "direction of a derivative or scan (default x), lines of stats (default all), or what flip exchanges"},
    {0, FOR(SCAN) | PROBLEMS, "exclusive", NULL, twi_set_exclusive, NULL, NULL,
     "leave a pixel's own value out of its sum"},
    {0, FOR(STATS) | PROBLEMS, "figures", "A,B", twi_set_figures, FIGURES_LEGAL, FIGURES_WORDS,
     "what to find out (default all); what is left out costs no time"},
    {0, FOR(STATS), "histogram", NULL, twi_set_histogram, NULL, NULL,
     "also count how often each value occurs, of u8 and u16 images"},
    {0, FOR(ROTATE) | PROBLEMS, "degrees", "N", twi_set_degrees, "90, 180 or 270", "90 180 270",
     "how far to turn, clockwise"},
    {0, FOR(LUT) | PROBLEMS, "table", "FILE", twi_set_table, "the name of a file", NULL,
     "256 (u8) or 65536 (u16) numbers in a row, or a row of them for each channel: a file, text or .npy"},
    {0, ORDERING | PROBLEMS, "shape", "NAME", twi_set_shape, "rect, cross or ellipse", "rect cross ellipse",
     "which positions of the window take part: rect (default) all, cross its middle row and column, ellipse those in "
     "the ellipse that fills it"},
    {0, ORDERING | PROBLEMS, "footprint", "FILE", twi_set_footprint,
     "the name of a file, or numbers such as '0 1; 1 1'", NULL,
     "the positions of the window that take part, as 0 and 1, at most 1023x1023: " NUMBERS_HELP},
    {0, ORDERING, "iterations", "N", twi_set_iterations, "a whole number, 1 to 2147483647", NULL,
     "do each step so often, one after the other (default 1)"},
    {0, FOR(RANK) | PROBLEMS, "k", "N", twi_set_rank, "a whole number, 0 to 4294836224", NULL,
     "the value of rank N: 0 is the lowest"},
    {0, FOR(RANK) | PROBLEMS, "percentile", "P", twi_set_percentile, "a number, 0 to 100", NULL,
     "the value of rank floor(n * P / 100), at most n - 1, of n positions"},
    {0, (BORDERED & ~(FOR(GAUSSIAN) | DERIVATIVES)) | PROBLEMS, "anchor", "X,Y", twi_set_anchor,
     "X,Y, each 0 to the window's side less 1", NULL,
     "the window's position that lies on the output pixel (default its middle, W/2,H/2)"},
    {0, FOR(BOX), "border", "RULE", twi_set_border, BORDER_LEGAL, BORDER_WORDS, BORDER_HELP(" (default)", "", "")},
    {0, REPLICATING, "border", "RULE", twi_set_border, BORDER_LEGAL, BORDER_WORDS, BORDER_HELP("", " (default)", "")},
    {0, EXTREMES | MORPHOLOGY, "border", "RULE", twi_set_any_border, BORDER_LEGAL ", or ignore", BORDER_WORDS " ignore",
     BORDER_HELP("", " (default)", "; with ignore they take no part")},
    {0, PROBLEMS, "border", "RULE", twi_set_any_border, BORDER_LEGAL ", or ignore (min and max)",
     BORDER_WORDS " ignore", "what positions outside the image read (default zero for box, replicate for the others)"},
    {0, FOR(BOX) | WEIGHING | PROBLEMS, "rounding", "RULE", twi_set_rounding, "floor or nearest", "floor nearest",
     "how an integer quotient is rounded: floor (default) toward minus infinity, nearest with ties up"},
    {0, READING, "view", "X,Y,W,H", twi_set_view, "X,Y,W,H: whole numbers, X and Y from 0, W and H from 1", NULL,
     "take this part of the input as an image of its own"},
    {0, READING, "page", "N", twi_set_page, "a whole number, 0 to 2147483647", NULL,
     "page of a multi-page file, from 0 (default)"},
    {0, KEEPING, "dtype", "TYPE", twi_set_type, TYPE_LEGAL, TYPE_WORDS,
     "type of the output's pixels (default the input's; there is no other here)"},
    {0, WEIGHING, "dtype", "TYPE", twi_set_type, TYPE_LEGAL, TYPE_WORDS,
     "type of the output's pixels (default the input's)"},
    {0, FOR(LUT), "dtype", "TYPE", twi_set_type, TYPE_LEGAL, TYPE_WORDS,
     "type of the output's pixels (default the input's, if it holds the table's entries)"},
    {0, SUMMING, "dtype", "TYPE", twi_set_sum_type, SUM_LEGAL, SUM_WORDS,
     "type of the output's pixels (default the narrowest that is sure to hold the sums; f32 is for scan of f32)"},
    {0, PROBLEMS, "dtype", "TYPE", twi_set_type, TYPE_LEGAL, TYPE_WORDS, "type of the image's pixels (default u8)"},
    {0, PROBLEMS, "to", "TYPE", twi_set_to, "u8, u16, i16, i32, f32, f64, u32, i64 or u64", TYPE_WORDS " u32 i64 u64",
     "type of the result's pixels, for filters that have a choice (default the image's)"},
    {0, PROBLEMS, "size", "WxH", twi_set_image_size, "WxH or N, each 1 to 1000000000", NULL,
     "size of the image (default 4096x4096)"},
    {0, PROBLEMS, "channels", "N", twi_set_channels, "1, 2, 3 or 4", "1 2 3 4", "channels of the image (default 1)"},
    {0, FOR(BENCH), "pitch", "BYTES", twi_set_pitch, "odd, or a number of bytes, 1 to 1000000000000", "odd",
     "bytes from a row of the images to the next: odd is the shortest odd number of elements (default a multiple of "
     "256 bytes)"},
    {0, WORKING | FOR(TUNE), "device", "NAME", twi_set_device, "auto, cpu, cuda, cuda:N, cuda:N,M or cuda:all",
     "auto cpu cuda cuda:0 cuda:all",
     "where to work: auto (default) is the GPU where one works, else the CPU; cuda is an error where none works; "
     "several "
     "GPUs share the work on each image, or the files where there are many"},
    {0, READING, "variant", "NAME", twi_set_variant, "one name, such as reference", NULL,
     "one named implementation, in place of the planner's choice: the result is the same, only the time differs "
     "('tilewise explain --list' prints them)"},
    {0, FOR(VERIFY) | FOR(BENCH), "variant", "A,B", twi_set_variants, "names separated by commas, such as reference",
     NULL, "these implementations alone ('tilewise explain --list' prints them)"},
    {0, FOR(EXPLAIN), "variant", "NAME", twi_set_variant, "one name, such as tiled", NULL,
     "say what this implementation does to memory"},
    {0, WORKING, "block", "WxH", twi_set_block, "WxH, each 1 to 1024", "16x16 32x32 64x16 32x8",
     "threads of a block, for the CUDA variants that have a choice; without effect where auto finds no GPU"},
    {0, FOR(EXPLAIN), "block", "WxH", twi_set_block, "WxH, each 1 to 1024", "16x16 32x32 64x16 32x8",
     "threads of a block, for the variants that have a choice"},
    {0, READING | FOR(BENCH) | FOR(TUNE), "threads", "N", twi_set_threads, "a whole number, 1 to 1024", NULL,
     "CPU threads (default all that this process may use)"},
    {0, READING, "memory", "SIZE", twi_set_memory, "bytes, or a number with K, M, G or T, such as 256M", NULL,
     "the most memory to take, and of a GPU's as much; larger images are worked on in bands (default half of what is "
     "free). Under mpirun it is each process's"},
    {0, FOR(BENCH), "graph", NULL, twi_set_graph, NULL, NULL,
     "launch the kernels as CUDA graphs of 10, for images so small that launching takes most of the time"},
    {0, FOR(BENCH), "pinned", NULL, twi_set_pinned, NULL, NULL,
     "take the round trip's images from pinned memory, not from ordinary memory"},
    {0, FOR(BENCH) | FOR(EXPLAIN), "flat", NULL, twi_set_flat, NULL, NULL,
     "images of one value: all lanes of a warp ask a table for one entry (else bench has random values, and explain "
     "such that 32 neighbours ask for 32 entries)"},
    {0, FOR(BENCH), "report", "DIR", twi_set_report, "the name of a folder", NULL,
     "time images of several sizes up to --size, and write DIR/bench-OP-DEVICE.html, a page with plots (drawn by "
     "gnuplot, which must be installed)"},
    {0, FOR(VERIFY), "seed", "N", twi_set_seed, "a whole number, 0 to 9223372036854775807", NULL,
     "which random cases to draw (default 1)"},
    {0, FOR(VERIFY), "cases", "N", twi_set_cases, "a whole number, 0 to 1000000000", NULL,
     "how many random cases to draw (default 100)"},
    {0, FOR(EXPLAIN), "svg", "FILE", twi_set_svg, "the name of a file, or -", NULL,
     "draw which lane of a warp asks for which bank of shared memory, and which conflict; - is stdout"},
    {0, FOR(EXPLAIN), "list", NULL, twi_set_list, NULL, NULL, "list the operation's variants"},
    {0, READING, "files-from", "FILE", twi_set_files_from, "the name of a file, or -", NULL,
     "also take the inputs that a file names, one a line, or split by NULs (as find -print0 prints them); - is stdin"},
    {0, FILTERS, "format", "NAME", twi_set_format, "png, jpg, jpeg, tif, tiff, pnm, pgm, ppm, pfm or npy",
     "png jpg tif pnm pfm npy", "write this format to a folder or to stdout (default the input's)"},
    {0, FILTERS, "resume", NULL, twi_set_resume, NULL, NULL,
     "leave out inputs whose output is there and newer, as make does, whatever options it was made with: an output is "
     "whole, or not there"},
    {0, FILTERS, "json", NULL, twi_set_json, NULL, NULL,
     "print a line of JSON for each file, and one with their numbers"},
    {0, FOR(STATS), "json", NULL, twi_set_json, NULL, NULL,
     "print JSON, with all digits; of several files a line for each, and one with their numbers"},
    {0, FOR(VERIFY) | PROBLEMS | FOR(INFO), "json", NULL, twi_set_json, NULL, NULL, "print JSON"},
    {0, READING, "progress", "WHEN", twi_set_progress, "auto, always or never", "auto always never",
     "show progress on stderr: auto (default) on a terminal, for work of more than a second"},
    {'q', READING, "quiet", NULL, twi_set_quiet, NULL, NULL, "no progress and no warnings, only errors"},
    {0, FOR(HELP), "man", NULL, twi_set_man, NULL, NULL, "print the manual page (roff)"},
    {0, FOR(HELP), "completion", "SHELL", twi_set_completion, "bash, zsh or fish", "bash zsh fish",
     "print the completions for a shell"},
    {'h', EVERY, "help", NULL, twi_set_help, NULL, NULL, "print the command's help"},
};

const size_t twi_option_count = sizeof twi_options / sizeof twi_options[0];
_Static_assert(sizeof twi_options / sizeof twi_options[0] <= TWI_MOST_OPTIONS, "raise TWI_MOST_OPTIONS");
