#include "core/images/image.h"
#include "core/outside.h"

#include <gtest/gtest.h>
#include <jpeglib.h>

#include <cstdlib>

#include "core/files.h"
#include "core/rng.h"
#include "tests/core/scratch.h"

namespace aft {
namespace {

Image random_image(int64_t width, int64_t height, int64_t channels) {
    Image image{width, height, channels, {}};
    CounterRng rng(3, 4);
    for (int64_t i = 0; i < width * height * channels; ++i)
        image.pixels.push_back(static_cast<uint8_t>(rng.below(256)));
    return image;
}

// A JPEG of one flat colour, made by the library itself.
std::string jpeg_bytes(int64_t width, int64_t height, std::array<uint8_t, 3> colour) {
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    unsigned char* memory = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&info, &memory, &size);
    info.image_width = static_cast<JDIMENSION>(width);
    info.image_height = static_cast<JDIMENSION>(height);
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_start_compress(&info, TRUE);
    std::vector<uint8_t> row;
    for (int64_t x = 0; x < width; ++x) row.insert(row.end(), colour.begin(), colour.end());
    JSAMPROW rows[] = {row.data()};
    for (int64_t y = 0; y < height; ++y) jpeg_write_scanlines(&info, rows, 1);
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    std::string bytes(reinterpret_cast<char*>(memory), size);
    std::free(memory);
    return bytes;
}

TEST(Image, png_round_trip) {
    const Scratch folder;
    for (int64_t channels : {1, 3}) {
        const Image image = random_image(17, 9, channels);
        write_png(folder / "a.png", image);
        const Image back = read_image(folder / "a.png");
        EXPECT_EQ(back.width, 17);
        EXPECT_EQ(back.height, 9);
        EXPECT_EQ(back.channels, channels);
        EXPECT_EQ(back.pixels, image.pixels);
    }
}

TEST(Image, alpha_is_dropped) {
    const Scratch folder;
    const Image image = random_image(5, 4, 4);
    write_png(folder / "a.png", image);
    const Image back = read_image(folder / "a.png");
    ASSERT_EQ(back.channels, 3);
    EXPECT_EQ(back.pixels, to_rgb(image).pixels);
}

TEST(Image, pnm_and_jpeg_are_read) {
    const Scratch folder;
    put(folder / "a.ppm", std::string("P6\n# comment\n2 1\n255\n") + "abcdef");
    EXPECT_EQ(read_image(folder / "a.ppm").pixels,
              (std::vector<uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'}));
    put(folder / "a.pgm", std::string("P5 2 1 15\n\x0f\x01"));
    EXPECT_EQ(read_image(folder / "a.pgm").pixels, (std::vector<uint8_t>{255, 17}));
    put(folder / "a.jpg", jpeg_bytes(20, 10, {200, 100, 50}));
    const Image jpeg = read_image(folder / "a.jpg");
    EXPECT_EQ(jpeg.width, 20);
    EXPECT_EQ(jpeg.height, 10);
    ASSERT_EQ(jpeg.channels, 3);
    EXPECT_NEAR(jpeg.pixels[0], 200, 3);
    EXPECT_NEAR(jpeg.pixels[1], 100, 3);
    EXPECT_NEAR(jpeg.pixels[2], 50, 3);
}

std::string bmp_bytes() {
    std::string bytes("BM\x3e\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\0\0\0\x01\0\0\0\x01\0\x18\0",
                      30);
    bytes.resize(54, '\0');
    return bytes + std::string("\x01\x02\x03\x04\x05\x06\0\0", 8);
}

std::string os2_bmp_bytes() {  // the same with the header of 12 bytes
    return std::string("BM\x22\0\0\0\0\0\0\0\x1a\0\0\0\x0c\0\0\0\x02\0\x01\0\x01\0\x18\0", 26) +
           bmp_bytes().substr(54);
}

// A chunk of text before the header.
std::string with_text_first(std::string png) {
    return png.insert(8, std::string("\0\0\0\x04tEXtabcd....", 16));
}

TEST(Image, bmp_is_read) {
    const Scratch folder;
    for (const std::string& bytes : {bmp_bytes(), os2_bmp_bytes()}) {
        put(folder / "a.bmp", bytes);
        EXPECT_EQ(read_image(folder / "a.bmp").pixels, (std::vector<uint8_t>{3, 2, 1, 6, 5, 4}));
    }
}

// stb alone would call it a picture of an unknown type.
TEST(Image, a_png_whose_header_is_not_first_says_so) {
    const Scratch folder;
    write_png(folder / "good.png", random_image(8, 8, 3));
    put(folder / "late.png", with_text_first(read_file(folder / "good.png")));
    const std::string message = error_of([&] { (void)read_image(folder / "late.png"); });
    EXPECT_TRUE(has(message, "its first chunk is 'tEXt', expected IHDR")) << message;
}

// Every proper prefix of a picture is an error that names the file, never half a picture.
TEST(Image, truncated_pictures_are_errors) {
    const Scratch folder;
    write_png(folder / "good.png", random_image(8, 8, 3));
    const std::string files[] = {read_file(folder / "good.png"), jpeg_bytes(40, 40, {9, 200, 30}),
                                 "P6\n4 4\n255\n" + std::string(48, 'x'), bmp_bytes(),
                                 os2_bmp_bytes()};
    for (const std::string& bytes : files) {
        put(folder / "whole", bytes);
        EXPECT_EQ(error_of([&] { (void)read_image(folder / "whole"); }), "");
        for (size_t size = 0; size + 12 < bytes.size(); size += 7) {
            put(folder / "cut", bytes.substr(0, size));
            const std::string message = error_of([&] { (void)read_image(folder / "cut"); });
            EXPECT_TRUE(has(message, (folder / "cut").string()))
                << size << " of " << bytes.size() << " bytes: '" << message << "'";
        }
    }
}

// The decoder repeats a chunk's name as it stands in the file.
TEST(Image, a_chunk_with_a_hostile_name_is_said_in_plain_characters) {
    const Scratch folder;
    write_png(folder / "good.png", random_image(8, 8, 3));
    std::string bytes = read_file(folder / "good.png");
    bytes.replace(bytes.find("IDAT"), 4, "N\x1b\xc0 ");
    put(folder / "named.png", bytes);
    const std::string message = error_of([&] { (void)read_image(folder / "named.png"); });
    EXPECT_TRUE(has(message, "named.png")) << message;
    EXPECT_EQ(message, printable_line(message));
}

// The size is read before the decoder is asked, which knows no word for "too large".
TEST(Image, a_picture_that_is_too_large_says_so) {
    const Scratch folder;
    write_png(folder / "a.png", random_image(8, 8, 3));
    const std::string png = read_file(folder / "a.png");
    const auto message_of = [&](const std::string& bytes) {
        put(folder / "b", bytes);
        return error_of([&] { (void)read_image(folder / "b"); });
    };
    const auto wide = [](std::string bytes, size_t at, const std::string& extent) {
        return bytes.replace(at, extent.size(), extent);
    };
    // 20000 pixels a side; then 9000 x 9000, within the sides and over 64 megapixels.
    const std::string side = message_of(wide(png, 16, std::string("\0\0\x4e\x20", 4)));
    EXPECT_TRUE(has(side, "20000 x 8 pixels; allowed: 16384 a side and 64 megapixels")) << side;
    const std::string area = message_of(wide(png, 16, std::string("\0\0\x23\x28\0\0\x23\x28", 8)));
    EXPECT_TRUE(has(area, "9000 x 9000 pixels; allowed:")) << area;
    const std::string bmp = message_of(wide(bmp_bytes(), 18, std::string("\x20\x4e\0\0", 4)));
    EXPECT_TRUE(has(bmp, "20000 x 1 pixels; allowed:")) << bmp;
    const std::string os2 = message_of(wide(os2_bmp_bytes(), 18, std::string("\x20\x4e", 2)));
    EXPECT_TRUE(has(os2, "20000 x 1 pixels; allowed:")) << os2;
    const std::string late =
        message_of(with_text_first(wide(png, 16, std::string("\0\0\x4e\x20", 4))));
    EXPECT_TRUE(has(late, "20000 x 8 pixels; allowed:")) << late;
    const std::string pnm = message_of("P6 20000 20000 255 x");
    EXPECT_TRUE(has(pnm, "20000 x 20000 pixels; allowed:")) << pnm;
}

TEST(Image, random_bytes_behind_a_right_beginning_never_crash) {
    const Scratch folder;
    write_png(folder / "good.png", random_image(8, 8, 3));
    const std::string files[] = {read_file(folder / "good.png"), jpeg_bytes(40, 40, {9, 200, 30}),
                                 "P6\n4 4\n255\n" + std::string(48, 'x'), bmp_bytes(),
                                 os2_bmp_bytes()};
    CounterRng rng(11, 12);
    int refused = 0;
    for (const std::string& bytes : files)
        for (int round = 0; round < 200; ++round) {
            std::string changed = bytes;
            for (int i = 0; i < 4; ++i)
                changed[static_cast<size_t>(4 + rng.below(static_cast<int64_t>(bytes.size()) -
                                                          4))] = static_cast<char>(rng.below(256));
            put(folder / "bad", changed);
            const std::string message = error_of([&] { (void)read_image(folder / "bad"); });
            refused += !message.empty();
            EXPECT_TRUE(message.empty() || has(message, (folder / "bad").string())) << message;
        }
    EXPECT_GT(refused, 200);
}

TEST(Image, sizes_beyond_the_limit_are_refused_before_memory_is_taken) {
    const Scratch folder;
    put(folder / "huge.ppm", "P6\n16000 16000\n255\nxx");
    const std::string message = error_of([&] { (void)read_image(folder / "huge.ppm"); });
    EXPECT_TRUE(has(message, "16000 x 16000") && has(message, "64 megapixels")) << message;
    put(folder / "none.ppm", "P6\n0 5\n255\n");
    EXPECT_TRUE(has(error_of([&] { (void)read_image(folder / "none.ppm"); }), "empty"));
}

TEST(Image, resizing_is_the_exact_area_average) {
    const Image image{4, 2, 1, {0, 10, 20, 31, 2, 4, 6, 8}};
    EXPECT_EQ(resize_area(image, 2, 1).pixels, (std::vector<uint8_t>{4, 16}));
    EXPECT_EQ(resize_area(image, 4, 2).pixels, image.pixels);
    // 4 -> 3: each target covers 4/3 source pixels. Row 0: (0 + 10/3) 3/4 = 2.5, rounded up.
    EXPECT_EQ(resize_area({4, 1, 1, {0, 10, 20, 30}}, 3, 1).pixels,
              (std::vector<uint8_t>{3, 15, 28}));
    EXPECT_EQ(resize_area({2, 1, 1, {0, 100}}, 4, 1).pixels,
              (std::vector<uint8_t>{0, 0, 100, 100}));
    const Image flat{7, 5, 3, std::vector<uint8_t>(105, 137)};
    EXPECT_EQ(resize_area(flat, 3, 4).pixels, std::vector<uint8_t>(36, 137));
}

TEST(Image, resizing_in_colour_agrees_with_long_sums) {
    const Image image = random_image(15, 11, 3);
    const Image small = resize_area(image, 4, 6);
    for (int64_t y = 0; y < 6; ++y)
        for (int64_t x = 0; x < 4; ++x)
            for (int64_t c = 0; c < 3; ++c) {
                double sum = 0;
                for (int64_t sy = 0; sy < 11; ++sy)
                    for (int64_t sx = 0; sx < 15; ++sx) {
                        const double high = std::min((sy + 1) / 11.0, (y + 1) / 6.0);
                        const double wide = std::min((sx + 1) / 15.0, (x + 1) / 4.0);
                        const double tall = std::max(0.0, high - std::max(sy / 11.0, y / 6.0));
                        const double broad = std::max(0.0, wide - std::max(sx / 15.0, x / 4.0));
                        sum += tall * broad *
                               image.pixels[static_cast<size_t>((sy * 15 + sx) * 3 + c)];
                    }
                EXPECT_NEAR(small.pixels[static_cast<size_t>((y * 4 + x) * 3 + c)], sum * 24,
                            0.5001);
            }
}

TEST(Image, crops_are_centred_and_of_the_right_shape) {
    const Image wide{4, 2, 1, {0, 1, 2, 3, 4, 5, 6, 7}};
    const Image square = crop_to_aspect(wide, 8, 8);
    EXPECT_EQ(square.width, 2);
    EXPECT_EQ(square.pixels, (std::vector<uint8_t>{1, 2, 5, 6}));
    EXPECT_EQ(crop_to_aspect(wide, 100, 50).pixels, wide.pixels);
    EXPECT_EQ(crop_to_aspect(wide, 4, 1).pixels, (std::vector<uint8_t>{0, 1, 2, 3}));
}

TEST(Image, grey_uses_the_weights_of_rec_601) {
    EXPECT_EQ(to_grey({3, 1, 3, {255, 0, 0, 0, 255, 0, 0, 0, 255}}).pixels,
              (std::vector<uint8_t>{76, 150, 29}));
    EXPECT_EQ(to_rgb({2, 1, 1, {5, 6}}).pixels, (std::vector<uint8_t>{5, 5, 5, 6, 6, 6}));
}

TEST(Image, endings_are_recognised_in_any_case) {
    EXPECT_TRUE(is_image_file("a/b.JPEG"));
    EXPECT_TRUE(is_image_file("b.png"));
    EXPECT_FALSE(is_image_file("b.gif"));
    EXPECT_FALSE(is_image_file("png"));
}

}  // namespace
}  // namespace aft
