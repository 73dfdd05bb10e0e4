#include <gtest/gtest.h>
#include <zlib.h>

#include "core/images/image.h"
#include "core/rng.h"
#include "model/data/loader.h"
#include "model/data/source.h"
#include "tests/model/scratch.h"

namespace aft {
namespace {

std::string random_bytes(int64_t n, uint64_t seed) {
    CounterRng rng(seed, 1);
    std::string bytes;
    for (int64_t i = 0; i < n; ++i) bytes += static_cast<char>(rng.below(256));
    return bytes;
}

// ---- cifar10

std::string cifar_record(int label, int64_t seed) {
    return std::string(1, static_cast<char>(label)) +
           random_bytes(3072, static_cast<uint64_t>(seed));
}

class CifarFolder {
  public:
    CifarFolder() {
        std::string batch, test;
        for (int i = 0; i < 40; ++i) batch += cifar_record(i % 10, i);
        for (int i = 0; i < 7; ++i) test += cifar_record(9 - i, 100 + i);
        put(folder / "data_batch_2.bin", batch);
        put(folder / "test_batch.bin", test);
    }
    [[nodiscard]] std::string spec(const std::string& options = "") const {
        return "cifar10:" + folder.path().string() + options;
    }
    Scratch folder;
};

TEST(Cifar10, counts_records_by_size_and_holds_out_the_last_twentieth) {
    const CifarFolder data;
    const auto source = open_source(data.spec(), 1);
    EXPECT_EQ(source->size(Split::train), 38);
    EXPECT_EQ(source->size(Split::validation), 2);
    EXPECT_EQ(source->size(Split::test), 7);
    EXPECT_EQ(source->example(Split::validation, 1).label, 9);
    EXPECT_EQ(source->example(Split::test, 6).label, 3);
    EXPECT_EQ(source->info().class_names.at(3), "cat");
}

TEST(Cifar10, planes_become_pixels_and_options_apply) {
    const CifarFolder data;
    const std::string record = cifar_record(5, 5);
    const auto whole = open_source(data.spec(), 1)->example(Split::train, 5);
    ASSERT_EQ(whole.values.size(), 3072U);
    for (size_t pixel : {0, 33, 1023})
        for (size_t c = 0; c < 3; ++c)
            EXPECT_EQ(whole.values[3 * pixel + c],
                      static_cast<uint8_t>(record[1 + 1024 * c + pixel]));
    const auto small = open_source(data.spec("?size=16&levels=16"), 1)->example(Split::train, 5);
    ASSERT_EQ(small.values.size(), 768U);
    int sum = 0;
    for (size_t at : {0, 1, 32, 33}) sum += static_cast<uint8_t>(record[1 + at]);
    EXPECT_EQ(small.values[0], (sum + 2) / 4 * 16 / 256);
    EXPECT_EQ(open_source(data.spec("?gray=1"), 1)->example(Split::train, 5).values.size(), 1024U);
}

TEST(Cifar10, a_size_that_is_no_multiple_names_file_size_and_3073) {
    const CifarFolder data;
    put(data.folder / "data_batch_3.bin", std::string(10000, '\1'));
    const std::string message = error_of([&] { (void)open_source(data.spec(), 1); });
    for (const std::string word : {"data_batch_3.bin", "10000", "3073"})
        EXPECT_TRUE(has(message, word)) << message;
    put(data.folder / "data_batch_3.bin", random_bytes(3073 * 5, 9));
    EXPECT_TRUE(has(error_of([&] { (void)open_source(data.spec(), 1); }), "data_batch_3.bin"));
}

TEST(Cifar10, a_file_cut_while_it_is_open_is_an_error) {
    const CifarFolder data;
    const auto source = open_source(data.spec(), 1);
    put(data.folder / "data_batch_2.bin", "");
    EXPECT_TRUE(has(error_of([&] { (void)source->example(Split::train, 3); }), "data_batch_2.bin"));
}

// ---- mnist

std::string idx(const std::vector<int>& shape, const std::string& data) {
    std::string bytes = std::string("\0\0\x08", 3) + static_cast<char>(shape.size());
    for (int extent : shape)
        for (int shift : {24, 16, 8, 0}) bytes += static_cast<char>(extent >> shift & 0xff);
    return bytes + data;
}

std::string gzip(const std::string& text) {
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
    std::string out(text.size() + 1000, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

TEST(Mnist, plain_and_packed_files_give_the_same) {
    const Scratch plain, packed;
    const std::string images = idx({40, 6, 6}, random_bytes(40 * 36, 3));
    std::string digits;
    for (int i = 0; i < 40; ++i) digits += static_cast<char>(i % 10);
    const std::string labels = idx({40}, digits);
    put(plain / "train-images-idx3-ubyte", images);
    put(plain / "train-labels-idx1-ubyte", labels);
    put(packed / "train-images-idx3-ubyte.gz", gzip(images));
    put(packed / "train-labels-idx1-ubyte.gz", gzip(labels));
    const auto a = open_source("mnist:" + plain.path().string() + "?size=6", 1);
    const auto b = open_source("mnist:" + packed.path().string() + "?size=6", 1);
    EXPECT_EQ(a->size(Split::train), 38);
    EXPECT_EQ(a->size(Split::validation), 2);
    EXPECT_EQ(a->size(Split::test), 0);
    EXPECT_EQ(a->example(Split::train, 7).values, b->example(Split::train, 7).values);
    EXPECT_EQ(b->example(Split::validation, 1).label, 9);
    const std::vector<uint8_t> last = b->example(Split::validation, 1).values;
    EXPECT_EQ(images.substr(images.size() - 36), std::string(last.begin(), last.end()));
}

TEST(Mnist, broken_files_are_errors_that_name_the_path) {
    const std::string images = idx({4, 6, 6}, random_bytes(4 * 36, 3));
    const std::string labels = idx({4}, std::string("\1\2\3\4"));
    const std::vector<std::pair<std::string, std::string>> broken = {
        {images.substr(0, images.size() - 1), labels},
        {images + "x", labels},
        {images.substr(0, 9), labels},
        {random_bytes(500, 8), labels},
        {labels, labels},
        {idx({4, 6, 2000000000}, ""), labels},
        {images, idx({3}, std::string("\1\2\3"))},
        {images, ""},
    };
    for (const auto& [image_bytes, label_bytes] : broken) {
        const Scratch folder;
        put(folder / "t10k-images-idx3-ubyte", image_bytes);
        put(folder / "t10k-labels-idx1-ubyte", label_bytes);
        const std::string message = error_of([&] {
            (void)open_source("mnist:" + folder.path().string(), 1)->example(Split::test, 0);
        });
        EXPECT_TRUE(has(message, folder.path().string())) << message;
    }
    const Scratch folder;
    const std::string packed = gzip(images);
    put(folder / "t10k-labels-idx1-ubyte", labels);
    for (const std::string& bytes :
         {packed.substr(0, packed.size() / 2), random_bytes(300, 4), std::string()}) {
        put(folder / "t10k-images-idx3-ubyte.gz", bytes);
        const std::string message = error_of(
            [&] { (void)open_source("mnist:" + folder.path().string(), 1)->size(Split::test); });
        EXPECT_TRUE(has(message, "t10k-images-idx3-ubyte.gz")) << message;
    }
}

// A gzip is unpacked to what its header says, whatever it would unpack to.
TEST(Mnist, a_packed_file_is_no_larger_than_its_header_says) {
    const std::string labels = idx({4}, std::string("\1\2\3\4")), zeros(size_t{64} << 20, '\0');
    const std::vector<std::pair<std::string, std::string>> bombs = {
        {idx({4, 6, 6}, zeros), "more than the 144 bytes"},
        {idx({4, 6, 6}, random_bytes(144, 3) + "x"), "more than the 144 bytes"},
        {idx({4, 6, 6}, random_bytes(143, 3)), "143 bytes of data, its header says 144"},
        {idx({1000, 1000, 1000}, "abc"), "cannot hold them"},
        {zeros, "begins with 0x00000000"},
        {"\0\0", "its header alone has 16"},
    };
    for (const auto& [unpacked, words] : bombs) {
        const Scratch folder;
        put(folder / "t10k-images-idx3-ubyte.gz", gzip(unpacked));
        put(folder / "t10k-labels-idx1-ubyte", labels);
        const std::string message = error_of(
            [&] { (void)open_source("mnist:" + folder.path().string(), 1)->size(Split::test); });
        EXPECT_TRUE(has(message, "t10k-images-idx3-ubyte.gz")) << message;
        EXPECT_TRUE(has(message, words)) << message;
    }
}

// ---- images

Image flat(uint8_t value, int64_t width, int64_t height) {
    return {width, height, 3, std::vector<uint8_t>(static_cast<size_t>(width * height * 3), value)};
}

TEST(Images, folders_are_classes_and_every_tenth_name_is_held_out) {
    const Scratch folder;
    for (const std::string name : {"cats", "dogs", "empty"})
        std::filesystem::create_directory(folder / name);
    for (int i = 0; i < 60; ++i) {
        const std::string file = "picture-" + std::to_string(i) + ".png";
        write_png(folder / (i % 2 ? "dogs" : "cats") / file, flat(static_cast<uint8_t>(i), 9, 7));
    }
    put(folder / "dogs/notes.txt", "no picture");
    const auto source = open_source("images:" + folder.path().string() + "?size=4", 1);
    EXPECT_EQ(source->info().class_names, (std::vector<std::string>{"cats", "dogs"}));
    EXPECT_EQ(source->size(Split::train) + source->size(Split::validation), 60);
    EXPECT_GE(source->size(Split::validation), 2);
    EXPECT_LE(source->size(Split::validation), 14);
    EXPECT_EQ(source->size(Split::test), 0);
    for (Split split : {Split::train, Split::validation})
        for (int64_t i = 0; i < source->size(split); ++i) {
            const Example example = source->example(split, i);
            EXPECT_EQ(example.values.size(), 48U);
            EXPECT_EQ(example.values[0] % 2, example.label);
            EXPECT_EQ(source->example(split, i).values, example.values) << "kept in memory";
        }
}

TEST(Images, a_broken_picture_is_named_when_it_is_needed) {
    const Scratch folder;
    write_png(folder / "a.png", flat(5, 8, 8));
    put(folder / "b.jpg", random_bytes(500, 3));
    const auto source = open_source("images:" + folder.path().string(), 1);
    const std::string message = error_of([&] {
        for (Split split : {Split::train, Split::validation})
            for (int64_t i = 0; i < source->size(split); ++i) (void)source->example(split, i);
    });
    EXPECT_TRUE(has(message, "b.jpg")) << message;
    EXPECT_EQ(source->info().classes, 0);
}

// ---- text

TEST(TextSource, is_split_90_5_5_and_the_used_alphabet_is_ascending) {
    const Scratch folder;
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "zebra"[i % 5];
    put(folder / "a.txt", text);
    const std::string spec = "text:" + (folder / "a.txt").string();
    const auto all = open_source(spec, 1, 32), used = open_source(spec + "?alphabet=used", 1, 32);
    EXPECT_EQ(all->text_size(Split::train), 900);
    EXPECT_EQ(all->text_size(Split::validation), 50);
    EXPECT_EQ(all->text_size(Split::test), 50);
    EXPECT_EQ(all->size(Split::train), 900 / 32);
    EXPECT_EQ(all->info().levels, 256);
    EXPECT_EQ(used->info().levels, 5);
    const auto bytes = all->window(Split::test, 1, 20).values;
    EXPECT_EQ(std::string(bytes.begin(), bytes.end()), text.substr(951, 20));
    const auto tokens = used->window(Split::test, 1, 20).values;
    for (size_t i = 0; i < 20; ++i) EXPECT_EQ(used->info().alphabet[tokens[i]], bytes[i]);
    EXPECT_EQ(used->info().alphabet, (std::vector<uint8_t>{'a', 'b', 'e', 'r', 'z'}));
    EXPECT_EQ(all->example(Split::train, 2).values, all->window(Split::train, 64, 32).values);
}

TEST(TextSource, that_is_too_short_says_how_long_it_must_be) {
    const Scratch folder;
    const auto of_length = [&](int64_t bytes) {
        put(folder / "a.txt", std::string(size_t(bytes), 'a'));
        return open_source("text:" + (folder / "a.txt").string(), 1, 32);
    };
    for (const auto& [split, needed] :
         {std::pair{Split::train, 36}, {Split::validation, 640}, {Split::test, 621}}) {
        EXPECT_TRUE(has(why_too_short(*of_length(30), split),
                        fmt::format("has 30 bytes; the model needs at least {}", needed)))
            << why_too_short(*of_length(30), split);
        for (const int64_t more : {0, 1, 7, 19})
            EXPECT_GT(of_length(needed + more)->size(split), 0) << split_name(split) << more;
    }
    EXPECT_EQ(of_length(35)->size(Split::train), 0);
    EXPECT_EQ(of_length(620)->size(Split::test), 0);
    EXPECT_EQ(why_too_short(*open_source("mirror", 1), Split::test), "") << "pictures";
}

TEST(TextSource, an_alphabet_that_lacks_a_byte_is_an_error) {
    const Scratch folder;
    put(folder / "a.txt", std::string(100, 'a') + "b");
    const std::string spec = "text:" + (folder / "a.txt").string();
    EXPECT_EQ(open_source(spec + "?alphabet=616263", 1)->info().levels, 3);
    EXPECT_TRUE(has(error_of([&] { (void)open_source(spec + "?alphabet=6163", 1); }), "byte 98"));
    for (const std::string bad : {"xyz", "6", "6261", "616", "61"})
        EXPECT_TRUE(has(error_of([&] { (void)open_source(spec + "?alphabet=" + bad, 1); }), bad));
    put(folder / "short", "abc");
    EXPECT_TRUE(has(error_of([&] { (void)open_source("text:" + (folder / "short").string(), 1); }),
                    "3 bytes"));
}

}  // namespace
}  // namespace aft
