// The mean by tilewise and by OpenCV's blur, beside memcpy, on the same images in the same run, taken in turn.
//     peers_opencv [WIDTHxHEIGHT [SIDE [THREADS]]]        default 16384x8192 3 2
// OpenCV's blur works on one thread: here it gets a strip of rows a thread, which changes none of its results.
// Border zero, rounding to nearest: what cv::blur does. Prints how many pixels differ.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
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
    return cv::Mat(static_cast<int>(image.height), static_cast<int>(image.width), CV_8UC1, image.data,
                   static_cast<size_t>(image.pitch));
}

void in_strips(int height, int threads, const std::function<void(cv::Range)> &work)
{
    cv::parallel_for_(cv::Range(0, threads), [&](const cv::Range &range) {
        for (int i = range.start; i < range.end; i++)
            work(cv::Range(height * i / threads, height * (i + 1) / threads));
    });
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
    const int rounds = 15;

    tw_context_options options = tw_context_defaults();
    options.backend = TW_CPU;
    options.threads = threads;
    cv::setNumThreads(threads);
    tw_context *context = nullptr;
    must(tw_context_create(&options, &context));
    tw_image src, by_tilewise, by_opencv;
    for (tw_image *image : {&src, &by_tilewise, &by_opencv})
        must(tw_image_create(context, width, height, 1, TW_U8, TW_MEMORY_HOST, image));
    const cv::Mat cv_src = as_mat(src);
    cv::Mat cv_dst = as_mat(by_opencv);
    cv::Mat cv_tilewise = as_mat(by_tilewise);
    cv::randu(cv_src, 0, 256);
    cv_dst = 0; // touched: no page faults inside a measurement
    cv_tilewise = 0;

    tw_box_params params = tw_box_defaults();
    params.window = tw_window_centred(side, side);
    params.rounding = TW_ROUND_NEAREST;
    tw_problem problem;
    tw_plan *plan = nullptr;
    must(tw_box_problem(&src, &by_tilewise, &params, &problem));
    must(tw_plan_create(context, &problem, nullptr, &plan));

    const auto copy = [&] { must(tw_image_copy(context, &src, &by_tilewise)); };
    const auto tilewise = [&] { must(tw_plan_run(plan, &src, &by_tilewise)); };
    const auto opencv = [&] {
        in_strips(static_cast<int>(height), threads, [&](cv::Range rows) {
            cv::Mat out = cv_dst.rowRange(rows);
            cv::blur(cv_src.rowRange(rows), out, cv::Size(side, side), cv::Point(-1, -1), cv::BORDER_CONSTANT);
        });
    };
    std::vector<double> copy_times, tilewise_times, opencv_times;
    for (int i = 0; i < rounds; i++) {
        copy_times.push_back(milliseconds(copy));
        tilewise_times.push_back(milliseconds(tilewise));
        opencv_times.push_back(milliseconds(opencv));
    }
    cv::Mat difference;
    cv::compare(cv_tilewise, cv_dst, difference, cv::CMP_NE);

    const double copied = median(copy_times);
    std::printf("box u8 %lldx%lld s%dx%d zero nearest, %d threads, median of %d, OpenCV %s\n", width, height, side, side,
                threads, rounds, cv::getVersionString().c_str());
    std::printf("memcpy    %9.3f ms\n", copied);
    std::printf("tilewise  %9.3f ms  %.3f of memcpy's speed (variant %s)\n", median(tilewise_times),
                copied / median(tilewise_times), tw_plan_variant(plan));
    std::printf("OpenCV    %9.3f ms  %.3f of memcpy's speed\n", median(opencv_times), copied / median(opencv_times));
    std::printf("tilewise is %.2f times as fast; %d pixels differ\n", median(opencv_times) / median(tilewise_times),
                cv::countNonZero(difference));
    tw_plan_destroy(plan);
    for (tw_image *image : {&src, &by_tilewise, &by_opencv})
        tw_image_free(context, image);
    tw_context_destroy(context);
    return 0;
}
