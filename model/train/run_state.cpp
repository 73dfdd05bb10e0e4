#include "model/train/run_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/outside.h"

namespace aft {

using nlohmann::json;

int64_t asked_steps(const std::vector<json>& events, const Config& config) {
    int64_t asked = 0;
    for (const json& event : events) {
        if (event.value("kind", "") != "target" || !event.contains("detail")) continue;
        const json& detail = event["detail"];
        if (detail.is_object() && detail.contains("steps") && detail["steps"].is_number_integer())
            asked = detail["steps"].get<int64_t>();
    }
    return std::max(asked, config.train.steps);
}

bool is_in_error(const std::vector<json>& events, int64_t last_logged) {
    int64_t broken = -1;  // the step that failed
    for (const json& event : events) {
        const std::string kind = event.value("kind", "");
        const int64_t step = event.value("step", int64_t{0});
        if (kind == "error")
            broken = step;
        else if (kind == "rewind" || kind == "lost" || step >= broken)
            broken = -1;
    }
    return broken >= 0 && last_logged < broken;
}

std::string unsaved_steps_text(int64_t saved, int64_t last) {
    return last == saved + 1
               ? fmt::format("step {} was not saved and is lost", last)
               : fmt::format("steps {} to {} were not saved and are lost", saved + 1, last);
}

std::string note_branch(RunFolder& folder, int64_t step, const std::string& file) {
    std::error_code ignored;
    const std::string whole = std::filesystem::absolute(file, ignored).lexically_normal().string();
    std::string text = fmt::format("from {}", shown_path(whole));
    folder.event("branch", step, {{"text", text}, {"file", whole}});
    return text;
}

std::string branched_from(const std::vector<json>& events) {
    for (const json& event : events) {
        if (event.value("kind", "") != "branch" || !event.contains("detail")) continue;
        const json& detail = event["detail"];
        if (detail.is_object() && detail.contains("file") && detail["file"].is_string())
            return detail["file"].get<std::string>();
    }
    return "";
}

bool keep_target(RunFolder& folder, const Config& config, int64_t step, int64_t target) {
    const int64_t asked = std::max(target, config.train.steps);
    if (asked == asked_steps(read_events(folder.path()), config)) return false;
    folder.event("target", step,
                 {{"text", fmt::format("target step {}", asked)}, {"steps", asked}});
    return true;
}

}  // namespace aft
