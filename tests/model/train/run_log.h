// A run's metrics.jsonl as its lines say, read without the program's own reader. Tests only.
#pragma once
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace aft {

inline std::vector<nlohmann::json> log_lines(const std::filesystem::path& run) {
    std::vector<nlohmann::json> lines;
    std::ifstream in(run / "metrics.jsonl", std::ios::binary);
    for (std::string line; std::getline(in, line) && !in.eof();)  // a torn last line has no end
        lines.push_back(nlohmann::json::parse(line));
    return lines;
}

}  // namespace aft
