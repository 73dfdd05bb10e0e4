// Lines of metrics.jsonl become rows: the quick scanner and the general reader agree, bad lines are
// named, a torn last line waits.
#include "model/metrics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "core/check.h"
#include "tests/model/scratch.h"
#include "tests/model/train/run_log.h"

namespace aft {
namespace {

namespace fs = std::filesystem;

void append(const fs::path& run, const std::string& text) {
    fs::create_directories(run);
    std::ofstream(run / "metrics.jsonl", std::ios::binary | std::ios::app) << text;
}

Curves read_all(const fs::path& run) {
    Curves curves;
    uint64_t offset = 0;
    while (read_rows(run, offset, curves)) {
    }
    return curves;
}

// As a general reader of JSON takes it, row by row.
Curves read_slowly(const fs::path& run) {
    Curves curves;
    for (const nlohmann::json& line : log_lines(run)) {
        std::map<std::string, double> values;
        for (const auto& [key, value] : line.items())
            if (value.is_number() && key != "step") values[key] = value.get<double>();
        if (line.contains("timing") && line["timing"].is_object())
            for (const auto& [key, value] : line["timing"].items())
                if (value.is_number()) values["timing." + key] = value.get<double>();
        add_row(curves, line.value("step", int64_t{0}), values);
    }
    return curves;
}

bool is_same(const NumberColumn& a, const NumberColumn& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
    return true;
}

void expect_same(const Curves& found, const Curves& expected) {
    EXPECT_TRUE(is_same(found.step, expected.step));
    ASSERT_EQ(found.columns.size(), expected.columns.size());
    for (const auto& [key, column] : expected.columns) {
        ASSERT_TRUE(found.columns.contains(key)) << key;
        EXPECT_TRUE(is_same(found.columns.at(key), column)) << key;
    }
}

TEST(Metrics, EveryFormOfALineIsReadAsTheGeneralReaderDoes) {
    const Scratch scratch;
    const char* const lines[] = {
        R"({"step":1,"loss":0.1,"lr":1e-3,"timing":{"step_ms":20.5,"memory_bytes":123456789012}})",
        R"({"step":2,"loss":-0.0,"lr":1E+2,"timing":{"step_ms":2}})",
        R"({"step":3,"loss":null,"lr":0,"validation.loss":0.30000000000000004,"timing":{}})",
        R"( { "lr" : 5e-324 , "loss" : 1.7976931348623157e308 , "step" : 4 } )",
        R"({"step":5,"note":"words","loss":2,"list":[1,{"a":2}],"is":true})",
        R"({"step":9.5,"loss":2})",
        R"({"loss":4,"timing":{"new":1}})",
        R"({"step":11,"l\u006fss":7,"timing":3,"timing.step_ms":4})",
        R"({})",
        R"({"step":12,"other":{"loss":1},"timing":{"timing":{"x":1},"step_ms":1}})",
    };
    for (const char* line : lines) append(scratch / "r", std::string(line) + "\n");
    const Curves found = read_all(scratch / "r");
    EXPECT_EQ(found.step.size(), std::size(lines));
    EXPECT_EQ(found.columns.at("loss")[0], 0.1);
    EXPECT_TRUE(std::isnan(found.columns.at("loss")[2]));
    EXPECT_EQ(found.columns.at("timing.memory_bytes")[0], 123456789012.0);
    expect_same(found, read_slowly(scratch / "r"));
}

// A key stands once in an object, whichever reader meets it.
TEST(Metrics, AKeyThatIsThereTwiceIsAnError) {
    const char* const lines[] = {
        R"({"step":6,"loss":2,"loss":3})",
        R"({"step":7,"step":8,"loss":2})",
        R"({"step":10,"timing":{"a":1},"loss":1,"timing":{"b":2}})",
    };
    for (const char* line : lines) {
        const Scratch scratch;
        append(scratch / "r", std::string(line) + "\n");
        EXPECT_THROW((void)read_all(scratch / "r"), Error) << line;
    }
}

TEST(Metrics, BadLinesAreNamedByFileAndByte) {
    for (const char* bad :
         {"{\"step\":2,\"loss\":01}", "{\"step\":2,\"loss\":1.}", "{\"step\":2,}",
          "{\"step\":2,\"loss\":.5}", "{\"step\":2,\"loss\":1e}", "[1]", "", "{\"step\":2} x",
          "{\"step\":2,\"loss\":nan}", "{\"step\":2,\"loss\":-}", "{\"step\":2,\"loss\":1e999}",
          "{\"step\":2,\"loss\":inf}"}) {
        const Scratch scratch;
        append(scratch / "r", "{\"step\":1,\"loss\":1}\n" + std::string(bad) + "\n");
        Curves curves;
        uint64_t offset = 0;
        try {
            read_rows(scratch / "r", offset, curves);
            FAIL() << bad;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("metrics.jsonl: the line at byte 20 is not"),
                      std::string::npos)
                << error.what();
        }
        EXPECT_EQ(curves.step.size(), 1u) << "what came before stays";
    }
}

TEST(Metrics, OnlyWhatIsNewIsRead) {
    const Scratch scratch;
    Curves curves;
    uint64_t offset = 0;
    EXPECT_FALSE(read_rows(scratch / "r", offset, curves)) << "nothing logged yet";
    append(scratch / "r", "{\"step\":1,\"loss\":1}\n{\"step\":2,\"lo");
    EXPECT_TRUE(read_rows(scratch / "r", offset, curves));
    EXPECT_FALSE(read_rows(scratch / "r", offset, curves)) << "torn";
    EXPECT_EQ(offset, 20u);
    const Curves before = curves;
    append(scratch / "r", "ss\":2}\n");
    EXPECT_TRUE(read_rows(scratch / "r", offset, curves));
    ASSERT_EQ(curves.step.size(), 2u);
    EXPECT_EQ(curves.columns.at("loss")[1], 2);
    EXPECT_EQ(before.step.size(), 1u);
    EXPECT_TRUE(curves.step.continues(before.step));
    EXPECT_GT(curves.version, before.version);
}

TEST(Metrics, LinesLongerThanASliceAreRead) {
    const Scratch scratch;
    append(scratch / "r", "{\"step\":1,\"note\":\"" + std::string(size_t{20} << 20, 'x') +
                              "\",\"loss\":3}\n{\"step\":2,\"loss\":4}\n");
    const Curves curves = read_all(scratch / "r");
    ASSERT_EQ(curves.step.size(), 2u);
    EXPECT_EQ(curves.columns.at("loss")[1], 4);
}

// A log as a 12-layer model leaves it, about 620 bytes a line.
void write_long_log(const fs::path& run, int64_t rows) {
    fs::create_directories(run);
    std::ofstream out(run / "metrics.jsonl", std::ios::binary);
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (int64_t step = 1; step <= rows; ++step) {
        const auto loss = double(float(3 + 0.1 * normal(random)));
        std::string line =
            fmt::format(R"({{"step":{},"bits_per_byte":{})", step, loss / std::log(2));
        for (int layer = 0; layer < 12; ++layer)
            line += fmt::format(R"(,"bias_norm.layer.{}":{})", layer, 1 + std::abs(normal(random)));
        line +=
            fmt::format(R"(,"grad_norm":{},"loss":{},"lr":0.001)", std::abs(normal(random)), loss);
        if (step % 500 == 0) line += fmt::format(R"(,"validation.loss":{})", loss + 0.1);
        out << line
            << fmt::format(R"(,"timing":{{"memory_bytes":123456789.0,"step_ms":{}}}}})",
                           20 + normal(random))
            << '\n';
    }
}

// The time is printed, not judged.
TEST(Metrics, ALongLogIsReadExactlyAndKeptSmall) {
    const Scratch scratch;
    const int64_t rows = std::getenv("AFTERIMAGE_ALL_TESTS") != nullptr ? 540000 : 20000;
    write_long_log(scratch / "r", rows);
    const auto start = std::chrono::steady_clock::now();
    const Curves curves = read_all(scratch / "r");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    ASSERT_EQ(curves.step.size(), size_t(rows));
    size_t bytes = bytes_of(curves.step);
    for (const auto& [key, column] : curves.columns) bytes += bytes_of(column);
    const double per_row = double(bytes) / double(rows);
    RecordProperty("seconds", fmt::format("{:.3f}", took.count()));
    RecordProperty("bytes_per_row", fmt::format("{:.1f}", per_row));
    fmt::print("{} rows, {} MB: {:.2f} s, {:.1f} bytes a row\n", rows,
               fs::file_size(scratch / "r/metrics.jsonl") / 1000000, took.count(), per_row);
    if (rows < 540000) return expect_same(curves, read_slowly(scratch / "r"));
    EXPECT_LT(bytes, size_t{100} << 20);
    EXPECT_EQ(curves.columns.at("validation.loss").size(), size_t(rows));
}

}  // namespace
}  // namespace aft
