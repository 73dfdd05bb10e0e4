// Files of torch.save: what PyTorch wrote is read as it is, everything else is refused.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "model/checkpoints/format.h"
#include "model/checkpoints/pickle.h"
#include "tests/model/scratch.h"
#include "tests/source_file.h"

namespace aft {
namespace {

fs::path stored_file(const std::string& name) {
    return source_file("tests/model/pt/" + name);
}

// As tests/model/pt/make_files.py makes them.
void expect_numbers(const TensorFile& file, const std::string& name, at::IntArrayRef shape,
                    at::ScalarType type) {
    SCOPED_TRACE(name);
    const at::Tensor* found = file.find(name);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->sizes(), shape);
    EXPECT_EQ(found->scalar_type(), type);
    EXPECT_TRUE(found->is_contiguous());
    const at::Tensor flat = found->flatten().to(at::kDouble);
    const double half = at::isFloatingType(type) ? 0.5 : 0;
    for (int64_t i = 0; i < flat.numel(); ++i) EXPECT_EQ(flat[i].item<double>(), double(i) + half);
}

void expect_nested(const TensorFile& file) {
    using at::ScalarType;
    expect_numbers(file, "model.linear.weight", {4, 3}, ScalarType::Float);
    expect_numbers(file, "model.linear.bias", {4}, ScalarType::Float);
    expect_numbers(file, "model.tied", {6}, ScalarType::Float);
    expect_numbers(file, "model.scalar", {}, ScalarType::Float);
    expect_numbers(file, "parameter", {2, 2}, ScalarType::Float);
    expect_numbers(file, "optimizer.state.0.exp_avg", {2}, ScalarType::Float);
    for (const auto& [name, type] : std::initializer_list<std::pair<const char*, ScalarType>>{
             {"float64", ScalarType::Double},
             {"float16", ScalarType::Half},
             {"bfloat16", ScalarType::BFloat16},
             {"int64", ScalarType::Long},
             {"int32", ScalarType::Int},
             {"int16", ScalarType::Short},
             {"int8", ScalarType::Char},
             {"uint8", ScalarType::Byte}})
        expect_numbers(file, std::string("model.") + name, {3}, type);
    EXPECT_EQ(file.find("model.empty")->sizes(), (at::IntArrayRef{0, 7}));
    EXPECT_TRUE(at::equal(*file.find("model.bool"), at::tensor({1, 0, 1}).to(at::kBool)));
    const at::Tensor transposed = (at::arange(10, at::kFloat) + 0.5).reshape({2, 5}).t();
    EXPECT_TRUE(at::equal(*file.find("model.transposed"), transposed));
    EXPECT_TRUE(at::equal(*file.find("model.part"), at::arange(2, 5, at::kFloat) + 0.5));
    EXPECT_EQ(file.tensors.size(), 18u);
    EXPECT_EQ(file.metadata.at("epoch"), "3");
    EXPECT_EQ(file.metadata.at("name"), "small");
    EXPECT_EQ(file.metadata.at("rate"), "0.25");
    EXPECT_EQ(file.metadata.at("optimizer.param_groups.0.params.0"), "0");
}

TEST(Pt, ZipAndLegacyFilesAreReadAlike) {
    for (const char* name : {"nested.pt", "legacy.pt"}) {
        SCOPED_TRACE(name);
        expect_nested(read_tensors(stored_file(name)));
    }
}

TEST(Pt, ATensorAloneHasAName) {
    expect_numbers(read_tensors(stored_file("tensor.pt")), "tensor", {2, 3}, at::ScalarType::Float);
}

TEST(Pt, ShapesAloneReadNoStorage) {
    const TensorFile file = read_tensors(stored_file("nested.pt"), TensorData::left_out);
    const at::Tensor* const weight = file.find("model.linear.weight");
    ASSERT_NE(weight, nullptr);
    EXPECT_TRUE(weight->is_meta());
    EXPECT_EQ(weight->sizes(), (at::IntArrayRef{4, 3}));
}

std::string refusal(const fs::path& path) {
    try {
        (void)read_tensors(path);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Pt, AModuleIsRefusedByNameAndOffset) {
    const std::string words = refusal(stored_file("module.pt"));
    EXPECT_NE(words.find("module.pt: 'torch.nn.modules.linear.Linear' in a pickle (offset "),
              std::string::npos)
        << words;
}

TEST(Pt, EveryCutFileIsRefused) {
    const Scratch scratch;
    for (const char* name : {"nested.pt", "legacy.pt"}) {
        const std::string whole = read_file(stored_file(name));
        for (size_t bytes = 20; bytes < whole.size(); bytes += 97) {
            write_atomically(scratch / "cut.pt", whole.substr(0, bytes));
            const std::string words = refusal(scratch / "cut.pt");
            EXPECT_NE(words.find("cut.pt"), std::string::npos) << name << " at " << bytes << words;
        }
    }
}

// Changed bytes give an error that names the file, or tensors no larger than the file.
TEST(Pt, ChangedBytesAreReadOrRefused) {
    const Scratch scratch;
    for (const char* name : {"nested.pt", "legacy.pt"}) {
        const std::string whole = read_file(stored_file(name));
        int refused = 0;
        for (size_t at = 0; at < whole.size(); at += 13) {
            std::string changed = whole;
            changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
            write_atomically(scratch / "changed.pt", changed);
            try {
                for (const auto& [_, tensor] : read_tensors(scratch / "changed.pt").tensors)
                    EXPECT_LE(tensor.nbytes(), whole.size());
            } catch (const Error& error) {
                ++refused;
                EXPECT_NE(std::string(error.what()).find("changed.pt"), std::string::npos);
            }
        }
        EXPECT_GT(refused, 10) << name;
    }
}

std::string pickle_error(const std::string& bytes) {
    constexpr std::string_view kGlobals[] = {"collections.OrderedDict", "torch.FloatStorage"};
    size_t at = 0;
    try {
        (void)Pickle(bytes, at, {.globals = kGlobals, .where = "a.pt"});
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Pickle, RefusesWhatIsNoData) {
    using namespace std::string_literals;
    EXPECT_EQ(pickle_error("\x80\x02}."s), "");
    const std::pair<std::string, const char*> cases[] = {
        {"\x80\x02"
         "cposix\nsystem\nX\x02\0\0\0ls\x85R."s,
         "'posix.system' in a pickle (offset 2)"},
        {"\x80\x05}."s, "protocol 5"},
        {"(i."s, "instruction 0x69"},
        {"\x80\x02R."s, "a value that is not there"},
        {"\x80\x02h\x05."s, "memo 5 that is not there"},
        {"\x80\x02]K\x01s."s, "an entry without its dict"},
        {"\x80\x02}K\x01K\x02K\x03(u."s, "entries without their dict"},
        {"\x80\x02X\xff\xff\xff\x7fno."s, "ends early"},
        {"\x80\x02}}."s, "more than one value"},
        {"\x80\x02)})R."s, "a call of what is no name"},
        {"\x80\x02t."s, "a mark that is not there"},
    };
    for (const auto& [bytes, words] : cases)
        EXPECT_NE(pickle_error(bytes).find(words), std::string::npos)
            << words << " expected, found: " << pickle_error(bytes);
}

// A file from before 1.6 whose list of keys names one long key again and again.
TEST(Pt, ALongKeyOfAStorageIsNotCopied) {
    const Scratch scratch;
    const std::string key(1 << 18, 'k'), legacy = read_file(stored_file("legacy.pt"));
    const size_t machine = legacy.find("}q", 15);
    ASSERT_NE(machine, std::string::npos);
    std::string bytes = legacy.substr(0, 14) + "." + "\x80\x02M\xe9\x03." + "\x80\x02}." +
                        "\x80\x02}." + "\x80\x02](X";
    bytes += std::string("\0\0\x04\0", 4) + key + "q" + std::string(1, '\0');
    for (int i = 0; i < 100000; ++i) bytes += std::string("h\0", 2);
    write_atomically(scratch / "long.pt", bytes + "e.");
    const std::string words = refusal(scratch / "long.pt");
    EXPECT_NE(words.find("keys of storages"), std::string::npos) << words;
}

// What a pickle without tensors holds instead of them.
TEST(Pt, SaysWhatAPickleWithoutTensorsHolds) {
    using namespace std::string_literals;
    const Scratch scratch;
    const auto words_of = [&](const std::string& bytes) {
        write_atomically(scratch / "p.pt", bytes);
        return refusal(scratch / "p.pt");
    };
    const std::string list = "\x80\x02]q\0(K\x01K\x02K\x03"s + "e.";
    const auto expect_words = [&](const std::string& bytes, const std::string& expected) {
        const std::string words = words_of(bytes);
        EXPECT_NE(words.find(expected), std::string::npos) << words;
        EXPECT_NE(words.find("a dict of tensors is expected"), std::string::npos) << words;
    };
    expect_words(list, "a pickle of a list of 3 values that torch.save has not written");
    expect_words("\x80\x02}X\x05\0\0\0epochK\x03s."s, "a pickle of a dict of 'epoch'");
    expect_words("\x80\x02"s + "cnumpy\nndarray\n.", "a pickle that torch.save has not written");
    const std::string legacy = read_file(stored_file("legacy.pt"));
    const std::string empty = "\x80\x02]."s;
    expect_words(legacy.substr(0, 14) + "." + "\x80\x02M\xe9\x03."s + "\x80\x02}."s + list + empty,
                 "no tensors in it, but a list of 3 values");
}

// Lists in lists cost no stack, the same arguments for many calls no memory.
TEST(Pickle, NestingAndRepetitionAreBounded) {
    std::string deep = "\x80\x02";
    for (int i = 0; i < 500000; ++i) deep += ']';
    for (int i = 1; i < 500000; ++i) deep += 'a';
    EXPECT_EQ(pickle_error(deep + "."), "");
    std::string many = "\x80\x02(";
    for (int i = 0; i < 2000; ++i) many += 'N';
    many += "tq";
    many += '\0';
    many += '0';
    for (int i = 0; i < 2000; ++i) {
        many += "ctorch\nFloatStorage\nh";
        many += '\0';
        many += "R0";
    }
    EXPECT_NE(pickle_error(many + "N.").find("arguments"), std::string::npos);
    using namespace std::string_literals;
    EXPECT_NE(pickle_error("\x80\x02}r\xff\xff\xff\xff."s).find("memo 4294967295"),
              std::string::npos);
}

}  // namespace
}  // namespace aft
