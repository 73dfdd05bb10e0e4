// Reads an animated PNG chunk by chunk: every frame as a viewer composes it, with its delay. Tests
// only; what is not as the specification says is a failed check.
#pragma once
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/images/image.h"

namespace aft {

struct ShownFrame {
    Image image;  // the whole canvas
    int64_t delay = 0, per_second = 0, stored_pixels = 0;
};

class ApngReader {
  public:
    explicit ApngReader(std::string bytes) : bytes_(std::move(bytes)) { read(); }
    std::vector<ShownFrame> frames;
    std::vector<std::string> names;  // of the chunks
    int64_t stated_frames = -1, plays = -1;

  private:
    [[nodiscard]] static int64_t number(std::string_view data, size_t at, size_t bytes = 4) {
        int64_t value = 0;
        for (size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<uint8_t>(data[at + i]);
        return value;
    }
    void read() {
        ASSERT_TRUE(bytes_.starts_with("\x89PNG\r\n\x1a\n"));
        for (size_t at = 8; at < bytes_.size();) {
            const auto size = static_cast<size_t>(number(bytes_, at));
            ASSERT_LE(at + 12 + size, bytes_.size());
            const std::string name = bytes_.substr(at + 4, 4), data = bytes_.substr(at + 8, size);
            const auto sum =
                crc32(0, reinterpret_cast<const Bytef*>(bytes_.data() + at + 4), uInt(size + 4));
            EXPECT_EQ(number(bytes_, at + 8 + size), int64_t(sum)) << name;
            names.push_back(name);
            take(name, data);
            at += 12 + size;
        }
    }
    void take(const std::string& name, const std::string& data) {
        if (name == "IHDR") {
            canvas_ = {number(data, 0), number(data, 4), 3, {}};
            canvas_.pixels.resize(static_cast<size_t>(canvas_.width * canvas_.height * 3));
            EXPECT_EQ(data.substr(8), std::string("\x08\x02\x00\x00\x00", 5)) << "RGB of 8 bits";
        } else if (name == "acTL") {
            stated_frames = number(data, 0), plays = number(data, 4);
        } else if (name == "fcTL") {
            EXPECT_EQ(number(data, 0), sequence_++);
            control_ = data;
            EXPECT_EQ(number(data, 24, 2), 0) << "disposes of nothing, replaces what is there";
        } else if (name == "IDAT") {
            draw(data);
        } else if (name == "fdAT") {
            EXPECT_EQ(number(data, 0), sequence_++);
            draw(data.substr(4));
        }
    }
    void draw(const std::string& data) {
        const int64_t width = number(control_, 4), height = number(control_, 8);
        const int64_t left = number(control_, 12), top = number(control_, 16);
        ASSERT_LE(left + width, canvas_.width);
        ASSERT_LE(top + height, canvas_.height);
        const auto bytes = static_cast<size_t>(width * 3);
        std::string rows(static_cast<size_t>(height) * (bytes + 1), 0);
        uLongf size = rows.size();
        ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                             reinterpret_cast<const Bytef*>(data.data()), data.size()),
                  Z_OK);
        ASSERT_EQ(size, rows.size());
        std::vector<uint8_t> above(bytes, 0);
        for (int64_t y = 0; y < height; ++y) {
            const char* const in = rows.data() + static_cast<size_t>(y) * (bytes + 1);
            uint8_t* const out = canvas_.pixels.data() + ((top + y) * canvas_.width + left) * 3;
            for (size_t i = 0; i < bytes; ++i) out[i] = restored(in, {i, out, above});
            above.assign(out, out + bytes);
        }
        frames.push_back(
            {canvas_, number(control_, 20, 2), number(control_, 22, 2), width * height});
    }
    struct FilteredByte {
        size_t i;
        const uint8_t* row;
        const std::vector<uint8_t>& above;
    };
    [[nodiscard]] static uint8_t restored(const char* in, const FilteredByte& at) {
        const auto value = static_cast<uint8_t>(in[at.i + 1]);
        const int left = at.i < 3 ? 0 : at.row[at.i - 3], up = at.above[at.i];
        const int diagonal = at.i < 3 ? 0 : at.above[at.i - 3];
        const int p = left + up - diagonal;
        const int pa = std::abs(p - left), pb = std::abs(p - up), pc = std::abs(p - diagonal);
        const int paeth = pa <= pb && pa <= pc ? left : pb <= pc ? up : diagonal;
        const int added[] = {0, left, up, (left + up) / 2, paeth};
        EXPECT_LT(in[0], 5);
        return static_cast<uint8_t>(value + added[static_cast<uint8_t>(in[0])]);
    }
    std::string bytes_, control_;
    Image canvas_{};
    int64_t sequence_ = 0;
};

}  // namespace aft
