// NPZ and CSV of several arrays: the bytes are those that zip and NumPy say.
#include "core/npz.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <map>

#include "core/check.h"
#include "core/files.h"
#include "tests/core/scratch.h"

namespace aft {
namespace {

template <class Number>
Number number_at(const std::string& bytes, size_t at) {
    Number out;
    EXPECT_LE(at + sizeof(out), bytes.size());
    std::memcpy(&out, bytes.data() + at, sizeof(out));
    return out;
}

// Name -> content, by the directory at the archive's end.
std::map<std::string, std::string> unzipped(const std::string& zip) {
    std::map<std::string, std::string> out;
    const size_t end = zip.size() - 22;
    EXPECT_EQ(zip.substr(end, 4), "PK\x05\x06");
    const auto count = number_at<uint16_t>(zip, end + 10);
    size_t at = number_at<uint32_t>(zip, end + 16);
    EXPECT_EQ(at + number_at<uint32_t>(zip, end + 12), end);
    for (int i = 0; i < count; ++i) {
        EXPECT_EQ(zip.substr(at, 4), "PK\x01\x02");
        EXPECT_EQ(number_at<uint16_t>(zip, at + 10), 0) << "stored";
        const auto bytes = number_at<uint32_t>(zip, at + 24);
        EXPECT_EQ(number_at<uint32_t>(zip, at + 20), bytes);
        const auto length = number_at<uint16_t>(zip, at + 28);
        const auto local = number_at<uint32_t>(zip, at + 42);
        const std::string name = zip.substr(at + 46, length);
        EXPECT_EQ(zip.substr(local, 4), "PK\x03\x04");
        EXPECT_EQ(zip.substr(local + 30, length), name);
        const std::string content = zip.substr(local + 30 + length, bytes);
        EXPECT_EQ(crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()),
                  number_at<uint32_t>(zip, at + 16));
        out[name] = content;
        at += size_t{46} + length;
    }
    EXPECT_EQ(at, end);
    return out;
}

std::vector<NumberTable> two_tables() {
    return {{"atlas.w", {2, 3}, {1, -2.5, 0.1, 4, std::nan(""), 6}}, {"train.loss", {1}, {1e300}}};
}

TEST(Npz, HoldsEveryTableAndTheNote) {
    const Scratch scratch;
    write_npz(scratch / "view.npz", two_tables(), R"({"step": 4})");
    const auto members = unzipped(read_file(scratch / "view.npz"));
    ASSERT_EQ(members.size(), 3U);
    EXPECT_EQ(members.at("note.json"), R"({"step": 4})");
    const std::string& npy = members.at("atlas.w.npy");
    EXPECT_EQ(npy.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    const size_t head = size_t{10} + number_at<uint16_t>(npy, 8);
    EXPECT_EQ(head % 64, 0U);
    EXPECT_NE(npy.find("'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)"),
              std::string::npos);
    ASSERT_EQ(npy.size(), head + 6 * sizeof(double));
    EXPECT_EQ(number_at<double>(npy, head + 8), -2.5);
    EXPECT_EQ(number_at<double>(npy, head + 16), 0.1);
    EXPECT_TRUE(std::isnan(number_at<double>(npy, head + 32)));
    EXPECT_NE(members.at("train.loss.npy").find("'shape': (1,)"), std::string::npos);
}

TEST(Npz, CsvHasALineForEveryValue) {
    const Scratch scratch;
    write_csv(scratch / "view.csv", two_tables());
    EXPECT_EQ(read_file(scratch / "view.csv"),
              "table,index0,index1,index2,value\n"
              "atlas.w,0,0,,1\natlas.w,0,1,,-2.5\natlas.w,0,2,,0.1\n"
              "atlas.w,1,0,,4\natlas.w,1,1,,nan\natlas.w,1,2,,6\ntrain.loss,0,,,1e+300\n");
}

TEST(Npz, AShapeThatIsNotThatOfTheValuesIsAnErrorAndLeavesNoFile) {
    const Scratch scratch;
    const std::vector<NumberTable> wrong = {{"w", {2, 2}, {1, 2, 3}}};
    EXPECT_THROW(write_npz(scratch / "a.npz", wrong, ""), Error);
    EXPECT_THROW(write_csv(scratch / "a.csv", wrong), Error);
    const std::vector<NumberTable> deep = {{"w", {1, 1, 1, 1}, {1}}};
    EXPECT_THROW(write_csv(scratch / "a.csv", deep), Error);
    EXPECT_TRUE(fs::is_empty(scratch.path()));
}

}  // namespace
}  // namespace aft
