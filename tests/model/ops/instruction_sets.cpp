#include "tests/model/ops/instruction_sets.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <regex>

#include "model/ops/cpu/simd/instruction_set.h"

namespace aft {

SetRun run_with_set(const std::string& set, const std::string& filter) {
    SetRun run;
    run.is_here = ops::cpu::is_available(set);
    if (!run.is_here) return run;
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    const std::string command = "GTEST_TOTAL_SHARDS=1 GTEST_SHARD_INDEX=0 AFTERIMAGE_CPU=" + set +
                                " '" + self + "' --gtest_filter=OpsCpu.is_chosen:" + filter +
                                " 2>&1";
    std::FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return run;
    std::string output;
    std::array<char, 4096> part{};
    for (size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;)
        output.append(part.data(), n);
    run.status = pclose(pipe);
    std::smatch found;
    if (std::regex_search(output, found, std::regex(R"(\[  PASSED  \] (\d+) test)")))
        run.passed = std::stoll(found[1]);
    constexpr size_t kKept = 2000;
    run.last_lines = output.substr(output.size() > kKept ? output.size() - kKept : 0);
    return run;
}

}  // namespace aft
