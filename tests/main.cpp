// Entry of every test program. LibTorch is never started here: tests that need it do so themselves.
#include <gtest/gtest.h>

#include "tests/source_file.h"

std::filesystem::path aft::source_file(const std::string& name) {
    return std::filesystem::path(AFT_SOURCE_DIR) / name;
}

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
