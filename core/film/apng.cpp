// Animated PNG: PNG with the chunks acTL, fcTL and fdAT of the third edition of its specification
// (W3C, 2025; first by Mozilla, 2004). A frame that is alike the one before only lasts longer; of
// the others the changed rectangle is stored.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "core/atomic_file.h"
#include "core/check.h"
#include "core/files.h"
#include "core/film/sinks.h"

namespace aft {
namespace {

constexpr int64_t kMostDelay = std::numeric_limits<uint16_t>::max();
constexpr uint64_t kAnimationControl = 8 + 25;  // its place: after the signature and IHDR

struct FrameBox {  // of the frame, in pixels
    int64_t x = 0, y = 0, width = 0, height = 0;
};

std::string big_endian_bytes(std::initializer_list<int64_t> values) {
    std::string out;
    for (const int64_t value : values)
        for (int shift = 24; shift >= 0; shift -= 8)
            out += static_cast<char>((value >> shift) & 0xff);
    return out;
}

std::string png_chunk(const char* name, const std::string& data) {
    const std::string content = name + data;
    const auto* bytes = reinterpret_cast<const Bytef*>(content.data());
    const uLong sum = crc32_z(0, bytes, content.size());
    return big_endian_bytes({static_cast<int64_t>(data.size())}) + content +
           big_endian_bytes({static_cast<int64_t>(sum)});
}

// Empty: they are alike.
FrameBox changed_box(const Image& before, const Image& now) {
    const auto bytes = static_cast<size_t>(now.width * 3);
    int64_t top = now.height, bottom = -1, left = now.width, right = -1;
    for (int64_t y = 0; y < now.height; ++y) {
        const uint8_t* const a = before.pixels.data() + static_cast<size_t>(y) * bytes;
        const uint8_t* const b = now.pixels.data() + static_cast<size_t>(y) * bytes;
        if (std::memcmp(a, b, bytes) == 0) continue;
        const int64_t first = std::mismatch(a, a + bytes, b).first - a;
        auto last = static_cast<int64_t>(bytes) - 1;
        while (a[last] == b[last]) --last;
        top = std::min(top, y), bottom = y;
        left = std::min(left, first / 3), right = std::max(right, last / 3);
    }
    if (bottom < 0) return {};
    return {left, top, right - left + 1, bottom - top + 1};
}

enum RowFilter : uint8_t { kNone = 0, kSub = 1, kUp = 2 };  // numbers of the specification

// Of each row the filter with the least sum of magnitudes, as the specification advises.
std::string filtered_rows(const Image& image, const FrameBox& box) {
    const auto bytes = static_cast<size_t>(box.width * 3);
    std::string out;
    out.reserve(static_cast<size_t>(box.height) * (bytes + 1));
    const std::string none(bytes, 0);
    const char* above = none.data();
    std::array<std::string, 3> tries;
    for (int64_t y = box.y; y < box.y + box.height; ++y) {
        const auto* row =
            reinterpret_cast<const char*>(image.pixels.data()) + (y * image.width + box.x) * 3;
        std::array<int64_t, 3> sums{};
        for (std::string& one : tries) one.resize(bytes);
        for (size_t i = 0; i < bytes; ++i) {
            const char left = i < 3 ? '\0' : row[i - 3];
            const std::array<int, 3> values = {row[i], row[i] - left, row[i] - above[i]};
            for (size_t k = 0; k < values.size(); ++k) {
                tries[k][i] = static_cast<char>(values[k]);
                sums[k] += std::abs(static_cast<int8_t>(values[k]));
            }
        }
        const auto best = std::min_element(sums.begin(), sums.end()) - sums.begin();
        out += static_cast<char>(best);
        out += tries[static_cast<size_t>(best)];
        above = row;
    }
    return out;
}

std::string compressed(const Image& image, const FrameBox& box) {
    const std::string rows = filtered_rows(image, box);
    uLongf size = compressBound(rows.size());
    std::string out(size, 0);
    const int done =
        compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                  reinterpret_cast<const Bytef*>(rows.data()), rows.size(), Z_DEFAULT_COMPRESSION);
    AFT_CHECK(done == Z_OK, "out of memory while compressing a frame of {} x {}", box.width,
              box.height);
    out.resize(size);
    return out;
}

class ApngSink : public FilmSink {
  public:
    ApngSink(const fs::path& path, const FilmShape& shape) : file_(path), shape_(shape) {
        file_.write("\x89PNG\r\n\x1a\n");
        const std::string rgb_of_8_bits("\x08\x02\x00\x00\x00", 5);
        file_.write(
            png_chunk("IHDR", big_endian_bytes({shape.width, shape.height}) + rgb_of_8_bits));
        file_.write(animation_control());
    }
    void add(const Image& frame) override {
        const bool is_first = before_.pixels.empty();
        FrameBox box{0, 0, shape_.width, shape_.height};
        if (!is_first) {
            box = changed_box(before_, frame);
            if (box.width == 0 && waiting_.delay < kMostDelay) {
                ++waiting_.delay;
                return;
            }
            if (box.width == 0) box = {0, 0, 1, 1};
            write_waiting();
        }
        waiting_ = {.box = box, .data = compressed(frame, box), .delay = 1};
        before_ = frame;
    }
    void finish() override {
        write_waiting();
        file_.write(png_chunk("IEND", ""));
        file_.write_at(kAnimationControl, animation_control());
        file_.commit();
    }

  private:
    // Written when it is known how long it is shown.
    struct WaitingFrame {
        FrameBox box{};
        std::string data{};
        int64_t delay = 0;  // in frames of the film
    };
    [[nodiscard]] std::string animation_control() const {
        return png_chunk("acTL", big_endian_bytes({frames_, 0}));  // 0: repeats for ever
    }
    void write_waiting() {
        const FrameBox& box = waiting_.box;
        std::string control = big_endian_bytes({sequence_++, box.width, box.height, box.x, box.y,
                                                waiting_.delay << 16 | shape_.frames_per_second});
        control += std::string(2, 0);  // stays until the next one, which replaces what is there
        file_.write(png_chunk("fcTL", control));
        file_.write(frames_ == 0
                        ? png_chunk("IDAT", waiting_.data)
                        : png_chunk("fdAT", big_endian_bytes({sequence_++}) + waiting_.data));
        ++frames_;
    }
    AtomicFile file_;
    FilmShape shape_;
    Image before_{};  // what is on the screen
    WaitingFrame waiting_{};
    int64_t sequence_ = 0, frames_ = 0;
};

}  // namespace

std::unique_ptr<FilmSink> apng_sink(const fs::path& path, const FilmShape& shape) {
    return std::make_unique<ApngSink>(path, shape);
}

}  // namespace aft
