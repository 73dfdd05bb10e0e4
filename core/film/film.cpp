#include "core/film/film.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/check.h"
#include "core/files.h"
#include "core/film/sinks.h"
#include "core/images/codecs.h"
#include "core/outside.h"
#include "core/progress.h"

namespace aft {
namespace {

bool is_folder_path(const fs::path& path) {
    std::error_code ignored;
    return !path.has_filename() || fs::is_directory(path, ignored);
}

// Lower case; throws where no film ends so.
std::string film_ending(const fs::path& path) {
    std::string ending = path.extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::array known = {".apng", ".png", ".gif", ".mp4", ".webm"};
    AFT_CHECK(std::find(known.begin(), known.end(), ending) != known.end(),
              "cannot write the film '{}': found {}; allowed: .apng, .png, .gif, .mp4, .webm, or a "
              "folder for numbered pictures (a path that ends in /)",
              shown_path(path.string()),
              ending.empty() ? "no ending" : "the ending '" + shown(ending) + "'");
    return ending;
}

bool is_apng(const std::string& ending) {
    return ending == ".apng" || ending == ".png";
}

std::unique_ptr<FilmSink> sink_of(const fs::path& path, const FilmShape& shape,
                                  const std::stop_token& stop) {
    AFT_CHECK(!path.empty(), "cannot write the film: the file name is empty");
    if (is_folder_path(path)) return folder_sink(path);
    const std::string ending = film_ending(path);
    if (is_apng(ending)) return apng_sink(path, shape);
    return video_sink({path, ending, stop}, shape);
}

}  // namespace

FilmWriter::FilmWriter(const fs::path& path, const FilmShape& shape, std::stop_token stop)
    : shape_(shape), stop_(std::move(stop)) {
    check_image_size(shape.width, shape.height);
    AFT_CHECK(shape.frames_per_second >= 1 && shape.frames_per_second <= kMostFramesPerSecond,
              "frames per second of the film: found {}, allowed: 1 to {}", shape.frames_per_second,
              kMostFramesPerSecond);
    sink_ = sink_of(path, shape, stop_);
}

FilmWriter::~FilmWriter() = default;

void FilmWriter::add(const Image& frame) {
    AFT_CHECK(frame.channels == 3 && frame.width == shape_.width && frame.height == shape_.height,
              "frame {} of the film is {} x {} with {} channels; the film is {} x {} with 3",
              frames_ + 1, frame.width, frame.height, frame.channels, shape_.width, shape_.height);
    AFT_ASSERT(static_cast<int64_t>(frame.pixels.size()) == frame.width * frame.height * 3);
    if (stop_.stop_requested()) throw Interrupted();
    sink_->add(frame);
    ++frames_;
}

void FilmWriter::finish() {
    AFT_CHECK(frames_ > 0, "the film has no frame");
    sink_->finish();
}

void check_film_path(const fs::path& path) {
    AFT_CHECK(!path.empty(), "cannot write the film: the file name is empty");
    if (is_folder_path(path)) return check_film_folder(path);
    const std::string ending = film_ending(path);
    if (!is_apng(ending)) static_cast<void>(find_ffmpeg(ending));
    check_writable(path);
}

Image fit_frame(const Image& image, int64_t width, int64_t height) {
    check_image_size(width, height);
    if (image.width == width && image.height == height) return image;
    check_image_size(image.width, image.height);
    Image out{width, height, image.channels, {}};
    out.pixels.reserve(static_cast<size_t>(width * height * image.channels));
    const int64_t kept = std::min(width, image.width);
    for (int64_t y = 0; y < height; ++y) {
        const auto row =
            image.pixels.begin() + std::min(y, image.height - 1) * image.width * image.channels;
        out.pixels.insert(out.pixels.end(), row, row + kept * image.channels);
        const auto last = row + (kept - 1) * image.channels;
        for (int64_t x = kept; x < width; ++x)
            out.pixels.insert(out.pixels.end(), last, last + image.channels);
    }
    return out;
}

}  // namespace aft
