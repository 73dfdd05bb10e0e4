// The safetensors reader against everything that a file can be, and the writer against the reader.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "core/check.h"
#include "core/rng.h"
#include "model/checkpoints/format.h"
#include "tests/model/train/train_fixtures.h"

namespace aft {
namespace {

std::string file_of(const std::string& header, const std::string& data) {
    const uint64_t length = header.size();
    std::string text(reinterpret_cast<const char*>(&length), sizeof length);
    return text + header + data;
}

// Writes the bytes, reads them, returns the error ("" = read without one).
std::string read_error(const std::string& bytes) {
    const Scratch folder;
    put(folder / "x.safetensors", bytes);
    const std::string error = error_of([&] { (void)read_tensors(folder / "x.safetensors"); });
    const bool named = error.find((folder / "x.safetensors").string()) != std::string::npos;
    EXPECT_TRUE(error.empty() || named) << error;
    return error;
}

std::string header_error(const std::string& header, size_t data_bytes) {
    return read_error(file_of(header, std::string(data_bytes, '\0')));
}

TensorFile sample_file() {
    TensorFile file;
    file.metadata = {{"afterimage", "{\"step\": 3}"}, {"note", "\xc3\xa4 \"quoted\"\n"}};
    file.tensors = {{"b.weight", at::arange(6, at::kFloat).reshape({2, 3})},
                    {"a.half", at::tensor({0.5, -2.25, 65504.0}).to(at::kHalf)},
                    {"scalar", at::scalar_tensor(7, at::kLong)},
                    {"empty", at::empty({0, 4}, at::kDouble)},
                    {"flags", at::tensor({1, 0, 1}).to(at::kBool)},
                    {"bytes", at::tensor({0, 255, 3}).to(at::kByte)},
                    {"brain", at::tensor({1.5, -0.75}).to(at::kBFloat16)},
                    {"ints", at::tensor({-5, 1 << 30}).to(at::kInt)},
                    {"transposed", at::arange(6, at::kFloat).reshape({2, 3}).t()}};
    return file;
}

TEST(Safetensors, RoundTripKeepsEveryByte) {
    const Scratch folder;
    const TensorFile file = sample_file();
    write_tensors(folder / "x.safetensors", file);
    const TensorFile back = read_tensors(folder / "x.safetensors");
    EXPECT_EQ(back.metadata, file.metadata);
    ASSERT_EQ(back.tensors.size(), file.tensors.size());
    for (const auto& [name, tensor] : file.tensors) {
        const at::Tensor* found = back.find(name);
        ASSERT_NE(found, nullptr) << name;
        EXPECT_EQ(found->scalar_type(), tensor.scalar_type()) << name;
        EXPECT_EQ(found->sizes(), tensor.sizes()) << name;
        EXPECT_TRUE(at::equal(*found, tensor)) << name;
    }
    EXPECT_EQ(back.find("nothing"), nullptr);
}

TEST(Safetensors, WrittenSortedByAlignmentThenNameAndHeaderPadded) {
    const Scratch folder;
    write_tensors(folder / "x.safetensors", sample_file());
    const TensorFile back = read_tensors(folder / "x.safetensors");
    std::vector<std::string> names;
    for (const auto& [name, tensor] : back.tensors)
        if (tensor.numel() > 0) names.push_back(name);
    const std::vector<std::string> expected{"scalar", "b.weight", "ints",  "transposed",
                                            "a.half", "brain",    "bytes", "flags"};
    EXPECT_EQ(names, expected);
    const std::string text = file_text(folder / "x.safetensors");
    uint64_t length = 0;
    std::memcpy(&length, text.data(), sizeof length);
    EXPECT_EQ(length % 8, 0u);
}

TEST(Safetensors, TheSameTensorsGiveTheSameBytes) {
    const Scratch folder;
    TensorFile file = sample_file();
    write_tensors(folder / "a", file);
    std::reverse(file.tensors.begin(), file.tensors.end());
    write_tensors(folder / "b", file);
    EXPECT_EQ(file_text(folder / "a"), file_text(folder / "b"));
}

TEST(Safetensors, EveryTruncationIsAnError) {
    const Scratch folder;
    write_tensors(folder / "x", sample_file());
    const std::string whole = file_text(folder / "x");
    for (size_t length = 0; length < whole.size(); ++length)
        EXPECT_NE(read_error(whole.substr(0, length)), "") << "cut to " << length;
    EXPECT_NE(read_error(whole + "x"), "");
    EXPECT_EQ(read_error(whole), "");
}

TEST(Safetensors, RandomBytesNeverDoHarm) {
    const Scratch folder;
    write_tensors(folder / "x", sample_file());
    const std::string whole = file_text(folder / "x");
    CounterRng rng(5, 0);
    for (int round = 0; round < 300; ++round) {
        std::string bytes = whole;
        const int64_t changes = 1 + rng.below(6);
        for (int64_t i = 0; i < changes; ++i)
            bytes[static_cast<size_t>(rng.below(static_cast<int64_t>(bytes.size())))] =
                static_cast<char>(rng.below(256));
        (void)read_error(bytes);  // an error or not: never a crash, never an unbounded allocation
    }
    std::string noise(4096, '\0');
    for (char& c : noise) c = static_cast<char>(rng.below(256));
    EXPECT_NE(read_error(noise), "");
}

TEST(Safetensors, RefusesBrokenHeaders) {
    const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
    EXPECT_EQ(header_error(good, 8), "");
    EXPECT_EQ(header_error(good + "   ", 8), "");
    EXPECT_NE(header_error(good, 9), "");  // bytes that no tensor covers
    EXPECT_NE(header_error(good, 7), "");
    EXPECT_NE(header_error(" " + good, 8), "");
    EXPECT_NE(header_error(good + "x", 8), "");
    EXPECT_NE(header_error("[1]", 0), "");
    EXPECT_NE(header_error("{\"a\":\xff}", 0), "");
    EXPECT_NE(header_error(R"({"a":null})", 0), "");
    EXPECT_NE(header_error(R"({"a":{"dtype":"F32","shape":[2]}})", 8), "");
    EXPECT_NE(header_error(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})", 8),
              "");
    EXPECT_NE(header_error(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8), "");
    EXPECT_NE(header_error(R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8), "");
    EXPECT_NE(header_error(R"({"a":{"dtype":"F32","shape":[[2]],"data_offsets":[0,8]}})", 8), "");
    EXPECT_NE(header_error(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,9]}})", 8), "");
    EXPECT_NE(header_error(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8), "");
    EXPECT_NE(header_error(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8), "");
    EXPECT_NE(header_error(R"({"__metadata__":{"shape":[1]}})", 0), "");
    EXPECT_NE(header_error(R"({"__metadata__":{"a":1}})", 0), "");
    EXPECT_EQ(header_error(R"({"__metadata__":{"a":"1"}})", 0), "");
    EXPECT_NE(header_error(std::string(200000, '['), 0), "");
}

TEST(Safetensors, RefusesHolesAndOverlaps) {
    const auto two = [](int b0, int b1) {
        return fmt::format(R"({{"a":{{"dtype":"F32","shape":[1],"data_offsets":[0,4]}},)"
                           R"("b":{{"dtype":"F32","shape":[1],"data_offsets":[{},{}]}}}})",
                           b0, b1);
    };
    EXPECT_EQ(header_error(two(4, 8), 8), "");
    EXPECT_NE(header_error(two(0, 4), 8), "");
    EXPECT_NE(header_error(two(2, 6), 8), "");
    EXPECT_NE(header_error(two(8, 12), 12), "");
}

TEST(Safetensors, RefusesDuplicateKeysByName) {
    const std::string entry = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
    const std::string twice = header_error("{\"ab\":" + entry + ",\"ab\":" + entry + "}", 4);
    EXPECT_NE(twice.find("'ab' is there twice"), std::string::npos) << twice;
    EXPECT_NE(
        header_error(R"({"a":{"dtype":"F32","dtype":"F32","shape":[],"data_offsets":[0,4]}})", 4),
        "");
    EXPECT_NE(header_error(R"({"__metadata__":{"k":"1","k":"2"}})", 0), "");
}

TEST(Safetensors, RefusesSizesThatOverflow) {
    const auto shaped = [](const std::string& shape) {
        return R"({"a":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,8]}})";
    };
    EXPECT_NE(header_error(shaped("[4294967296,4294967296]"), 8), "");
    EXPECT_NE(header_error(shaped("[9223372036854775807,2]"), 8), "");
    EXPECT_NE(header_error(shaped("[18446744073709551615]"), 8), "");
    EXPECT_NE(header_error(shaped("[0,9223372036854775807,9223372036854775807]"), 8), "");
    EXPECT_NE(header_error(shaped("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2]"), 8), "");
    EXPECT_EQ(header_error(shaped("[2,1,1]"), 8), "");
}

TEST(Safetensors, NamesDtypesThatItDoesNotKnow) {
    const std::string error =
        header_error(R"({"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}})", 4);
    EXPECT_NE(error.find("F8_E4M3"), std::string::npos) << error;
    EXPECT_NE(error.find("BF16"), std::string::npos) << error;
}

TEST(Safetensors, RefusesBoolsThatAreNeither) {
    const std::string header = R"({"a":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})";
    EXPECT_EQ(read_error(file_of(header, std::string("\x01\x00", 2))), "");
    EXPECT_NE(read_error(file_of(header, "\x01\x02")), "");
}

TEST(Safetensors, AHeaderLengthBeyondTheFileIsAnErrorAtOnce) {
    std::string bytes = file_of("{}", "");
    const uint64_t huge = uint64_t{1} << 60;
    std::memcpy(bytes.data(), &huge, sizeof huge);
    EXPECT_NE(read_error(bytes).find("claims"), std::string::npos);
}

TEST(Safetensors, MissingFilesAndFoldersAreNamed) {
    const Scratch folder;
    EXPECT_NE(error_of([&] { (void)read_tensors(folder / "none"); }).find("no such file"),
              std::string::npos);
    EXPECT_NE(error_of([&] { (void)read_tensors(folder / ""); }).find("folder"), std::string::npos);
}

TEST(Formats, EachHasANameASentenceAndItsFunctions) {
    for (const FormatRoom& room : formats()) {
        EXPECT_FALSE(room.info.name.empty());
        EXPECT_FALSE(room.info.sentence.empty());
        ASSERT_TRUE(room.recognises && room.read) << room.info.name;
        // Ours is the first, which is written; others may be read only (they have tests of their
        // own).
        ASSERT_TRUE(room.write || &room != &formats().front()) << room.info.name;
        if (room.write == nullptr) continue;
        const Scratch folder;
        room.write(folder / "file", {.tensors = {{"t", at::ones({2})}}, .metadata = {}});
        EXPECT_TRUE(room.recognises(folder / "file")) << room.info.name;
        EXPECT_TRUE(
            at::equal(*room.read(folder / "file", TensorData::read).find("t"), at::ones({2})));
        const TensorFile header = room.read(folder / "file", TensorData::left_out);
        EXPECT_TRUE(header.find("t")->is_meta());
        EXPECT_EQ(header.find("t")->sizes(), at::IntArrayRef({2}));
    }
}

}  // namespace
}  // namespace aft
