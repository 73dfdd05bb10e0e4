#include "core/writers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/files.h"
#include "tests/core/read_npy.h"
#include "tests/core/scratch.h"

namespace aft {
namespace {

Field small_field() {
    Field field;
    field.name = "w";
    field.shape = {2, 3};
    field.axes = {"target", "source"};
    field.values = {0, 1.5F, -2, 1e-30F, std::numeric_limits<float>::infinity(), 0.1F};
    return field;
}

TEST(Writers, npy_has_the_bytes_that_the_format_says) {
    const Scratch folder;
    write_npy(folder / "w.npy", small_field());
    const std::string bytes = read_file(folder / "w.npy");
    ASSERT_EQ(bytes.size(), 128U + 24U);
    EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    EXPECT_EQ(static_cast<uint8_t>(bytes[8]) + 256 * static_cast<uint8_t>(bytes[9]), 118);
    EXPECT_TRUE(has(bytes, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"));
    EXPECT_EQ(bytes[127], '\n');
}

TEST(Writers, npy_round_trip_for_every_rank) {
    const Scratch folder;
    for (const std::vector<int64_t>& shape :
         std::vector<std::vector<int64_t>>{{}, {6}, {2, 3}, {1, 2, 3}, {3, 0}}) {
        Field field = small_field();
        field.shape = shape;
        field.values.resize(static_cast<size_t>(field.size()));
        write_npy(folder / "x.npy", field);
        const Field back = read_npy(folder / "x.npy");
        EXPECT_EQ(back.shape, shape);
        EXPECT_EQ(back.values, field.values);
    }
}

TEST(Writers, csv_has_one_cell_a_line_and_exact_numbers) {
    const Scratch folder;
    write_csv(folder / "w.csv", small_field());
    EXPECT_EQ(read_file(folder / "w.csv"),
              "target,source,value\n0,0,0\n0,1,1.5\n0,2,-2\n1,0,1e-30\n1,1,inf\n1,2,0.1\n");
}

}  // namespace
}  // namespace aft
