#include "app/state/sweep_table.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>

#include "core/caught.h"
#include "core/json.h"
#include "core/outside.h"
#include "model/model_files.h"
#include "model/system.h"

namespace aft::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t kMostSweepBytes = uint64_t{64} << 20;
constexpr size_t kMostSweepRows = 4096, kMostSweepKeys = 8;

// null is NaN.
double sweep_number(const json& j, const std::string& key) {
    const auto found = j.find(key);
    return found != j.end() && found->is_number() ? found->get<double>() : std::nan("");
}

std::string sweep_text(const json& j, const char* key) {
    constexpr size_t kMostBytes = 400;
    const auto found = j.find(key);
    if (found == j.end()) return "";
    const std::string text = found->is_string() ? found->get<std::string>() : found->dump();
    return printable_line(text.substr(0, kMostBytes)) + (text.size() > kMostBytes ? "..." : "");
}

const json& sweep_list(const json& j, const char* key) {
    const auto found = j.find(key);
    if (found == j.end() || !found->is_array() || found->size() > kMostSweepRows)
        fail("{}: found {}, allowed: a list of at most {}", key,
             found == j.end() ? "nothing" : found_json(*found), kMostSweepRows);
    return *found;
}

SweepRow sweep_row_of(const json& j) {
    return {.name = sweep_text(j, "name"),
            .paper = sweep_text(j, "paper"),
            .runs = clamped_whole(j, "runs", {0, 0, 0x1p20}),
            .mean = sweep_number(j, "mean"),
            .deviation = sweep_number(j, "deviation"),
            .least = sweep_number(j, "least"),
            .most = sweep_number(j, "most")};
}

// In the order in which they first stand; those that all points have alike are left out.
std::vector<std::string> differing_sweep_keys(const json& points) {
    struct SeenKey {
        const json* first = nullptr;
        size_t points = 0;
        bool differs = false;
    };
    std::map<std::string, SeenKey> seen;
    std::vector<std::string> order, keys;
    for (const json& point : points) {
        const auto settings = point.find("settings");
        if (settings == point.end() || !settings->is_object()) continue;
        for (const auto& [key, value] : settings->items()) {
            SeenKey& one = seen[key];
            if (one.points++ == 0) {
                one.first = &value;
                order.push_back(key);
            }
            one.differs = one.differs || *one.first != value;
        }
    }
    for (const std::string& key : order)
        if (const SeenKey& one = seen.at(key); one.differs || one.points < points.size())
            if (keys.size() < kMostSweepKeys) keys.push_back(key);
    return keys;
}

// Of a folder that was moved: beside the table.
std::string run_folder_of(const std::string& named, const std::string& sweep) {
    std::error_code ignored;
    const fs::path here = fs::path(sweep) / fs::path(named).filename();
    return !fs::exists(named, ignored) && fs::exists(here, ignored) ? here.string() : named;
}

SweepTable sweep_table_of(const json& j, const std::string& folder) {
    if (!j.is_object()) fail("found {}, allowed: an object", found_json(j));
    SweepTable table{.name = sweep_text(j, "name"),
                     .sentence = sweep_text(j, "sentence"),
                     .paper = sweep_text(j, "paper"),
                     .metric = sweep_text(j, "metric"),
                     .split = sweep_text(j, "split")};
    const json &points = sweep_list(j, "points"), &runs = sweep_list(j, "runs");
    for (const json& point : points)
        if (!point.is_object()) fail("points: found {}, allowed: objects", found_json(point));
    table.keys = differing_sweep_keys(points);
    for (const json& point : points) {
        table.rows.push_back(sweep_row_of(point));
        const json settings = point.value("settings", json::object());
        for (const std::string& key : table.keys)
            table.rows.back().settings.push_back(sweep_text(settings, key.c_str()));
    }
    std::map<std::string, size_t> places;  // of equal names the first
    for (size_t i = 0; i < table.rows.size(); ++i) places.emplace(table.rows[i].name, i);
    for (const json& run : runs) {
        if (!run.is_object()) fail("runs: found {}, allowed: objects", found_json(run));
        const std::string point = sweep_text(run, "point");
        const auto place = places.find(point);
        if (place == places.end()) fail("runs: '{}' is none of the points", shown(point));
        table.rows[place->second].seeds.push_back(
            {.seed = clamped_whole(run, "seed", {0, 0, 0x1p53}),
             .folder = run_folder_of(sweep_text(run, "folder"), folder),
             .state = sweep_text(run, "state"),
             .error = sweep_text(run, "error"),
             .value = sweep_number(run, table.metric)});
    }
    return table;
}

fs::path sweep_table_path(const std::string& folder) {
    return fs::path(folder) / "table.json";
}

}  // namespace

int64_t SweepTable::count(const char* state) const {
    int64_t count = 0;
    for (const SweepRow& row : rows)
        count += std::count_if(row.seeds.begin(), row.seeds.end(),
                               [&](const SweepSeed& one) { return one.state == state; });
    return count;
}

bool is_sweep_folder(const std::string& path) {
    std::error_code ignored;
    return fs::is_regular_file(sweep_table_path(path), ignored) && !is_run_folder(path);
}

SweepTable read_sweep_table(const std::string& folder) {
    const fs::path file = sweep_table_path(folder);
    const json whole = read_json_file(file, kMostSweepBytes);
    return with_context(shown_path(file.string()), [&] { return sweep_table_of(whole, folder); });
}

TableStamp sweep_table_stamp(const std::string& folder) {
    std::error_code no_time, no_size;
    const fs::path file = sweep_table_path(folder);
    const auto changed = fs::last_write_time(file, no_time);
    const auto size = fs::file_size(file, no_size);
    if (no_time || no_size) return {};
    const auto since = changed.time_since_epoch();
    return {.changed_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(since).count(),
            .size = static_cast<int64_t>(size)};
}

std::string run_of_sweep(const std::string& folder) {
    std::string first;
    std::error_code problem;
    for (auto it = fs::directory_iterator(folder, problem); !problem && it != fs::end(it);
         it.increment(problem)) {
        const std::string name = it->path().filename().string();
        if ((first.empty() || name < first) && is_run_folder(it->path().string())) first = name;
    }
    return first;
}

double leading_number(const std::string& text) {
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    return problem == std::errc() && std::isfinite(value) ? value : std::nan("");
}

}  // namespace aft::app
