// A config and its data: what the data say of the model's shape, and what a user has set.
#include <fmt/ranges.h>

#include <algorithm>

#include "core/check.h"
#include "core/data_spec.h"
#include "core/outside.h"
#include "model/data/loader.h"
#include "model/device.h"
#include "model/jobs/train.h"
#include "model/tasks/task.h"

namespace aft {
namespace {

bool is_given(const std::vector<std::string>& given, const char* key) {
    return std::find(given.begin(), given.end(), key) != given.end();
}

// The side that was set; 0: none was.
int64_t given_side(const ModelConfig& model, const std::vector<std::string>& given) {
    const bool height = is_given(given, "model.height"), width = is_given(given, "model.width");
    if (height && width && model.height != model.width) return 0;
    return height ? model.height : width ? model.width : 0;
}

// The SPEC with what was set as options where it leaves them out and the source has them.
std::string with_given(const Config& config, const std::vector<std::string>& given) {
    DataSpec parts = split_data_spec(config.data.source);
    const Spec spec = parse_spec(config.data.source);
    const SourceRoom& room = find_room(sources(), spec.room, "data source");
    const auto offer = [&](const char* key, int64_t value) {
        if (!has_option(room, key) || spec.options.contains(key)) return;
        parts.options += fmt::format("{}{}={}", parts.options.empty() ? "?" : "&", key, value);
    };
    if (const int64_t side = given_side(config.model, given); side > 0) offer("size", side);
    if (is_given(given, "model.levels")) offer("levels", config.model.levels);
    if (is_given(given, "model.channels")) offer("gray", config.model.channels == 1 ? 1 : 0);
    return parts.text();
}

constexpr const char* kAlphabets =
    "; ?alphabet=used behind the data takes the bytes that occur there alone, and a model made by "
    "afterimage import FILE --alphabet TEXT says its own";

// Rows of the two that differ, as "model.height = 32 (not 16)".
std::vector<std::string> changes(Config before, Config after,
                                 const std::vector<std::string>& given) {
    std::vector<std::string> words, wrong;
    const SettingRows old = before.rows(), now = after.rows();
    for (size_t i = 0; i < now.size(); ++i) {
        const std::string was = value_text(old[i]), is = value_text(now[i]);
        if (was == is || !now[i].key.starts_with("model.")) continue;
        if (is_given(given, now[i].key.c_str()))
            wrong.push_back(fmt::format("{}={}, the data have {}", now[i].key, was, is));
        else
            words.push_back(fmt::format("{} = {} (not {})", now[i].key, is, was));
    }
    if (wrong.empty()) return words;
    const bool is_alphabet =
        task_traits(before.model).is_text() && before.model.levels != after.model.levels;
    fail_usage("{}: '{}'; change one of the two{}", fmt::join(wrong, "; "),
               shown(after.data.source), is_alphabet ? kAlphabets : "");
}

}  // namespace

FittedConfig fit_to_data(const Config& config, const std::vector<std::string>& given,
                         const std::stop_token& stop) {
    FittedConfig fitted{.config = config};
    with_plain_errors([&] {
        check_trainable(config.model);
        fitted.config.data.source = with_given(config, given);
        const auto source =
            open_source(parse_spec(fitted.config.data.source, stop),
                        static_cast<uint64_t>(config.train.seed), text_length(config.model));
        fit_model(fitted.config.model, *source);
        const std::vector<std::string> words = changes(config, fitted.config, given);
        if (!words.empty()) fitted.note = fmt::format("from the data: {}", fmt::join(words, ", "));
        fitted.config.check();
        check_fit(*source, fitted.config.model);
    });
    return fitted;
}

}  // namespace aft
