// A filter by tilewise and by OpenCV, beside memcpy, on the same images in the same run, taken in turn.
//     peers_opencv [WIDTHxHEIGHT [SIDE [THREADS [FILTER]]]]        default 16384x8192 3 2 box
// FILTER: box is cv::blur; correlate and correlate-f32 are cv::filter2D with a mask that is no product of a row and a
// column; gaussian is cv::GaussianBlur, of 5 taps with OpenCV's own 1 4 6 4 1 (sigma 1.1), else of sigma (SIDE - 1)
// / 8; max and median, also with -f32, are cv::dilate and cv::medianBlur. OpenCV works once as it is and once in a
// strip of rows a thread, which the borders aside is the same; the faster counts. Rounding to nearest. Prints how many
// pixels differ, and by how much: filter2D rounds ties to even, and the Gaussians have other weights.
// histogram, histogram-constant and histogram-smooth are cv::calcHist of bytes that are random, all the same, or close
// to their neighbours; SIDE is not used.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "tilewise.h"

namespace
{

using clock_type = std::chrono::steady_clock;

void must(tw_status status)
{
    if (status == TW_OK)
        return;
    std::fprintf(stderr, "%s\n", tw_error_message());
    std::exit(1);
}

double milliseconds(const std::function<void()> &work)
{
    const auto start = clock_type::now();
    work();
    return std::chrono::duration<double, std::milli>(clock_type::now() - start).count();
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

cv::Mat as_mat(const tw_image &image)
{
    return cv::Mat(static_cast<int>(image.height), static_cast<int>(image.width),
                   image.type == TW_F32 ? CV_32FC1 : CV_8UC1, image.data, static_cast<size_t>(image.pitch));
}

using peer = std::function<void(const cv::Mat &, cv::Mat &)>;

peer box(const tw_image &src, const tw_image &dst, int side, tw_problem &problem)
{
    tw_box_params params = tw_box_defaults();
    params.window = tw_window_centred(side, side);
    params.rounding = TW_ROUND_NEAREST;
    must(tw_box_problem(&src, &dst, &params, &problem));
    return [=](const cv::Mat &in, cv::Mat &out) {
        cv::blur(in, out, cv::Size(side, side), cv::Point(-1, -1), cv::BORDER_CONSTANT);
    };
}

// Small integers of both signs whose sum is the divisor.
peer correlate(const tw_image &src, const tw_image &dst, int side, tw_problem &problem)
{
    static std::vector<int32_t> integers;
    static std::vector<double> floats;
    integers.resize(static_cast<size_t>(side) * static_cast<size_t>(side));
    int sum = 0;
    for (size_t i = 0; i < integers.size(); i++)
        sum += integers[i] = static_cast<int>(i * 7 % 11) - 4 + (i == integers.size() / 2 ? 40 : 0);
    cv::Mat mask(side, side, CV_32F);
    for (size_t i = 0; i < integers.size(); i++)
        mask.at<float>(static_cast<int>(i)) = static_cast<float>(integers[i]) / static_cast<float>(sum);
    floats.assign(mask.begin<float>(), mask.end<float>());
    tw_correlate_params params = {};
    params.window = tw_window_centred(side, side);
    params.border.mode = TW_BORDER_REPLICATE;
    params.rounding = TW_ROUND_NEAREST;
    params.divisor = src.type == TW_F32 ? 1 : sum;
    if (src.type == TW_F32)
        params.mask.floats = floats.data();
    else
        params.mask.integers = integers.data();
    must(tw_correlate_problem(&src, &dst, &params, &problem));
    return [=](const cv::Mat &in, cv::Mat &out) {
        cv::filter2D(in, out, -1, mask, cv::Point(-1, -1), 0, cv::BORDER_REPLICATE);
    };
}

peer gaussian(const tw_image &src, const tw_image &dst, int side, tw_problem &problem)
{
    tw_gaussian_params params = tw_gaussian_defaults();
    params.width = params.height = side;
    params.sigma_x = params.sigma_y = side == 5 ? 1.1 : (side - 1) / 8.0;
    must(tw_gaussian_problem(&src, &dst, &params, &problem));
    const double sigma = side == 5 ? 0 : params.sigma_x;
    return [=](const cv::Mat &in, cv::Mat &out) {
        cv::GaussianBlur(in, out, cv::Size(side, side), sigma, sigma, cv::BORDER_REPLICATE);
    };
}

peer order(tw_op op, const tw_image &src, const tw_image &dst, int side, tw_problem &problem)
{
    tw_order_params params = tw_order_defaults();
    params.window = tw_window_centred(side, side);
    params.border.mode = op == TW_OP_MAX ? TW_BORDER_IGNORE : TW_BORDER_REPLICATE;
    must(tw_order_problem(op, &src, &dst, &params, op == TW_OP_MAX ? 0 : tw_order_count(&params) / 2, &problem));
    if (op == TW_OP_MAX)
        return [=](const cv::Mat &in, cv::Mat &out) {
            cv::dilate(in, out, cv::getStructuringElement(cv::MORPH_RECT, cv::Size(side, side)));
        };
    // medianBlur does not look beyond a strip: it gets the rows around and its result is cut
    return [=](const cv::Mat &in, cv::Mat &out) {
        static thread_local cv::Mat wider_out;
        cv::Size whole;
        cv::Point at;
        cv::Mat wider = in;
        in.locateROI(whole, at);
        const int above = std::min(side / 2, at.y), below = std::min(side / 2, whole.height - at.y - in.rows);
        if (above + below == 0) {
            cv::medianBlur(in, out, side);
            return;
        }
        wider.adjustROI(above, below, 0, 0);
        cv::medianBlur(wider, wider_out, side);
        wider_out.rowRange(above, above + in.rows).copyTo(out);
    };
}

peer largest(const tw_image &src, const tw_image &dst, int side, tw_problem &problem)
{
    return order(TW_OP_MAX, src, dst, side, problem);
}

peer middle(const tw_image &src, const tw_image &dst, int side, tw_problem &problem)
{
    return order(TW_OP_RANK, src, dst, side, problem);
}

struct filter_row {
    const char *name;
    tw_type type;
    peer (*make)(const tw_image &src, const tw_image &dst, int side, tw_problem &problem);
};

const filter_row filters[] = {
    {"box", TW_U8, box},           {"correlate", TW_U8, correlate}, {"correlate-f32", TW_F32, correlate},
    {"gaussian", TW_U8, gaussian}, {"max", TW_U8, largest},         {"max-f32", TW_F32, largest},
    {"median", TW_U8, middle},     {"median-f32", TW_F32, middle},
};

void in_strips(int height, int threads, const std::function<void(cv::Range)> &work)
{
    cv::parallel_for_(cv::Range(0, threads), [&](const cv::Range &range) {
        for (int i = range.start; i < range.end; i++)
            work(cv::Range(height * i / threads, height * (i + 1) / threads));
    });
}

// ---- Histograms: no image comes of them ----------------------------------------------------------------------------

void fill_for_histogram(const tw_image &image, const std::string &kind)
{
    cv::Mat pixels = as_mat(image);
    cv::randu(pixels, 0, kind == "histogram-smooth" ? 8 : 256);
    if (kind == "histogram-constant")
        pixels = 77;
    for (int y = 0; y < pixels.rows && kind == "histogram-smooth"; y++)
        for (int x = 0; x < pixels.cols; x++)
            pixels.at<uchar>(y, x) =
                static_cast<uchar>(pixels.at<uchar>(y, x) + 120 + 80 * std::sin(x * 0.004) * std::cos(y * 0.003) +
                                   30 * std::sin((x + y) * 0.03));
}

cv::Mat count(const cv::Mat &pixels)
{
    const int channel = 0, values = 256;
    const float limits[] = {0, 256};
    const float *range = limits;
    cv::Mat counts;
    cv::calcHist(&pixels, 1, &channel, cv::Mat(), counts, 1, &values, &range);
    return counts;
}

int histogram(const std::string &kind, long long width, long long height, int threads, tw_context *context)
{
    tw_image src, dst;
    must(tw_image_create(context, width, height, 1, TW_U8, TW_MEMORY_HOST, &src));
    must(tw_image_create(context, 256, 1, 1, TW_U64, TW_MEMORY_HOST, &dst));
    fill_for_histogram(src, kind);
    const cv::Mat pixels = as_mat(src);
    tw_problem problem;
    tw_plan *plan = nullptr;
    must(tw_histogram_problem(&src, &dst, &problem));
    must(tw_plan_create(context, &problem, nullptr, &plan));
    std::vector<double> tilewise_times, opencv_times, strips_times;
    cv::Mat counts;
    for (int i = 0; i < 15; i++) {
        tilewise_times.push_back(milliseconds([&] { must(tw_plan_run(plan, &src, &dst)); }));
        opencv_times.push_back(milliseconds([&] { counts = count(pixels); }));
        strips_times.push_back(milliseconds([&] {
            in_strips(static_cast<int>(height), threads, [&](cv::Range strip) { count(pixels.rowRange(strip)); });
        }));
    }
    int differ = 0;
    for (int i = 0; i < 256; i++)
        differ += static_cast<double>(static_cast<const uint64_t *>(dst.data)[i]) != counts.at<float>(i);
    const double best = std::min(median(opencv_times), median(strips_times));
    std::printf("%s %lldx%lld, %d threads, median of 15, OpenCV %s\n", kind.c_str(), width, height, threads,
                cv::getVersionString().c_str());
    std::printf("tilewise  %9.3f ms (variant %s)\nOpenCV    %9.3f ms, in strips %.3f ms\n", median(tilewise_times),
                tw_plan_variant(plan), median(opencv_times), median(strips_times));
    std::printf("tilewise is %.2f times as fast; %d counts differ\n", best / median(tilewise_times), differ);
    tw_plan_destroy(plan);
    tw_image_free(context, &src);
    tw_image_free(context, &dst);
    tw_context_destroy(context);
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    long long width = 16384, height = 8192;
    if (argc > 1 && std::sscanf(argv[1], "%lldx%lld", &width, &height) != 2) {
        std::fprintf(stderr, "size '%s': give WIDTHxHEIGHT\n", argv[1]);
        return 2;
    }
    const int side = argc > 2 ? std::atoi(argv[2]) : 3;
    const int threads = argc > 3 ? std::atoi(argv[3]) : 2;
    const std::string filter = argc > 4 ? argv[4] : "box";
    const filter_row *row = nullptr;
    for (const filter_row &known : filters)
        row = filter == known.name ? &known : row;
    const bool counts = filter == "histogram" || filter == "histogram-constant" || filter == "histogram-smooth";
    if (!row && !counts) {
        std::fprintf(stderr, "filter '%s': give histogram[-constant|-smooth] or one of", filter.c_str());
        for (const filter_row &known : filters)
            std::fprintf(stderr, " %s", known.name);
        std::fprintf(stderr, "\n");
        return 2;
    }
    tw_context_options options = tw_context_defaults();
    options.backend = TW_CPU;
    options.threads = threads;
    cv::setNumThreads(threads);
    tw_context *context = nullptr;
    must(tw_context_create(&options, &context));
    if (counts)
        return histogram(filter, width, height, threads, context);
    const int rounds = row->make == middle && side > 5 ? 3 : 15; // medianBlur takes its time
    tw_image src, by_tilewise, by_opencv;
    for (tw_image *image : {&src, &by_tilewise, &by_opencv})
        must(tw_image_create(context, width, height, 1, row->type, TW_MEMORY_HOST, image));
    const cv::Mat cv_src = as_mat(src);
    cv::Mat cv_dst = as_mat(by_opencv);
    cv::Mat cv_tilewise = as_mat(by_tilewise);
    cv::randu(cv_src, 0, 256);
    cv_dst = 0; // touched: no page faults inside a measurement
    cv_tilewise = 0;

    tw_problem problem;
    const peer work = row->make(src, by_tilewise, side, problem);
    tw_plan *plan = nullptr;
    must(tw_plan_create(context, &problem, nullptr, &plan));

    const auto copy = [&] { must(tw_image_copy(context, &src, &by_tilewise)); };
    const auto tilewise = [&] { must(tw_plan_run(plan, &src, &by_tilewise)); };
    const auto opencv = [&] { work(cv_src, cv_dst); };
    const auto opencv_strips = [&] {
        in_strips(static_cast<int>(height), threads, [&](cv::Range strip) {
            cv::Mat out = cv_dst.rowRange(strip);
            work(cv_src.rowRange(strip), out);
        });
    };
    std::vector<double> copy_times, tilewise_times, opencv_times, strips_times;
    for (int i = 0; i < rounds; i++) {
        copy_times.push_back(milliseconds(copy));
        tilewise_times.push_back(milliseconds(tilewise));
        opencv_times.push_back(milliseconds(opencv));
        strips_times.push_back(milliseconds(opencv_strips));
    }
    cv::Mat difference;
    double most = 0;
    cv::absdiff(cv_tilewise, cv_dst, difference);
    cv::minMaxLoc(difference, nullptr, &most);

    const double copied = median(copy_times);
    const double whole = median(opencv_times), strips = median(strips_times);
    std::printf("%s %lldx%lld s%dx%d, %d threads, median of %d, OpenCV %s\n", filter.c_str(), width, height, side, side,
                threads, rounds, cv::getVersionString().c_str());
    std::printf("memcpy    %9.3f ms\n", copied);
    std::printf("tilewise  %9.3f ms  %.3f of memcpy's speed (variant %s)\n", median(tilewise_times),
                copied / median(tilewise_times), tw_plan_variant(plan));
    std::printf("OpenCV    %9.3f ms, in strips %.3f ms  %.3f of memcpy's speed\n", whole, strips,
                copied / std::min(whole, strips));
    std::printf("tilewise is %.2f times as fast; %d pixels differ, by %g at most\n",
                std::min(whole, strips) / median(tilewise_times), cv::countNonZero(difference), most);
    tw_plan_destroy(plan);
    for (tw_image *image : {&src, &by_tilewise, &by_opencv})
        tw_image_free(context, image);
    tw_context_destroy(context);
    return 0;
}
