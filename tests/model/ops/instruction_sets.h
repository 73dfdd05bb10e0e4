// Tests of this program once more with another instruction set: the choice is made once per
// process, so they run in a process of their own, which must say how many passed.
#pragma once
#include <cstdint>
#include <string>

namespace aft {

struct SetRun {
    bool is_here = false;    // whether this processor has the set
    int status = 0;          // of the process
    int64_t passed = 0;      // tests, as it reports them
    std::string last_lines;  // of its output
};
// filter: as in --gtest_filter; OpsCpu.is_chosen runs with it.
[[nodiscard]] SetRun run_with_set(const std::string& set, const std::string& filter);

}  // namespace aft
