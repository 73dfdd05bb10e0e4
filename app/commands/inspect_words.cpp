#include "app/commands/inspect_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/json.h"
#include "core/outside.h"
#include "core/settings.h"
#include "core/text.h"

namespace aft::app {
namespace {

using nlohmann::json;
using Rows = std::vector<std::vector<std::string>>;

std::string number(double value) {
    return fmt::format("{:.4g}", value);
}

// "" where it is missing or no number.
std::string metric(const std::map<std::string, double>& metrics, const std::string& key) {
    const auto found = metrics.find(key);
    return found == metrics.end() || std::isnan(found->second) ? "" : number(found->second);
}

std::string dtype_words(const std::string& name) {
    static const std::map<std::string, std::string> words = {{"Float", "float32"},
                                                             {"Double", "float64"},
                                                             {"Half", "float16"},
                                                             {"BFloat16", "bfloat16"},
                                                             {"Long", "int64"}};
    const auto found = words.find(name);
    return found == words.end() ? name : found->second;
}

std::string tensor_table(const std::vector<TensorSummary>& tensors) {
    Rows rows = {{"name", "dtype", "shape", "min", "max"}};
    for (const TensorSummary& tensor : tensors)
        rows.push_back({tensor.name, dtype_words(tensor.dtype),
                        fmt::format("{}", fmt::join(tensor.shape, " x ")), number(tensor.min),
                        number(tensor.max)});
    return aligned_table(rows, 3);
}

std::string bias_table(const std::vector<BiasSummary>& biases) {
    const bool has_hidden = std::any_of(biases.begin(), biases.end(),
                                        [](const BiasSummary& bias) { return bias.hidden > 0; });
    Rows rows = {{"layer", "head", "min", "max", "mean", "norm"}};
    if (has_hidden) rows.front().emplace_back("hidden");
    for (const BiasSummary& bias : biases) {
        rows.push_back({std::to_string(bias.layer), std::to_string(bias.head), number(bias.min),
                        number(bias.max), number(bias.mean), number(bias.norm)});
        if (has_hidden) rows.back().push_back(group_thousands(bias.hidden));
    }
    return aligned_table(rows, 2) +
           (has_hidden ? "hidden: pairs with w = -inf, which count in no statistic\n" : "");
}

std::string map_table(const std::vector<MapSummary>& maps) {
    Rows rows = {{"layer", "name", "layout", "grid", "gauge"}};
    for (size_t i = 0; i < maps.size(); ++i)
        rows.push_back({std::to_string(i), maps[i].name, maps[i].layout,
                        fmt::format("{}", fmt::join(maps[i].grid, " x ")), maps[i].gauge});
    return aligned_table(rows, 5);
}

std::string loss_words(const std::map<std::string, double>& metrics, const TaskTraits& task) {
    for (const std::string& key : {task.loss_key(), std::string("loss")}) {
        const std::string loss = metric(metrics, key);
        if (loss.empty()) continue;
        const std::string words = key == "loss" ? "nats" : task.metric_words;
        const std::string held_out = metric(metrics, "validation." + key);
        return fmt::format("{} {}{}", loss, words,
                           held_out.empty() ? "" : ", validation " + held_out);
    }
    return "";
}

std::string parameter_words(const InspectResult& result) {
    const std::vector<int64_t>& layers = result.parameters_per_layer;
    std::string words = group_thousands(result.parameters);
    const bool are_alike =
        !layers.empty() &&
        std::all_of(layers.begin(), layers.end(), [&](int64_t n) { return n == layers[0]; });
    if (are_alike) words += fmt::format(", {} in each layer", group_thousands(layers[0]));
    return words;
}

// "" where this model does not read it.
std::string read_setting(Config config, std::string_view key) {
    if (unread_settings(config).contains(std::string(key))) return "";
    SettingRows rows = config.rows();
    const Setting* const row = find_setting(rows, key);
    return row == nullptr ? "" : value_text(*row);
}

std::string mixer_words(const Config& config) {
    const ModelConfig& model = config.model;
    std::string words = fmt::format("{}, {} layer{} of width {}", model.mixer, model.layers,
                                    model.layers == 1 ? "" : "s", model.dim);
    if (const std::string heads = read_setting(config, "model.heads"); !heads.empty())
        words += fmt::format(", {} head{}", heads, heads == "1" ? "" : "s");
    return words;
}

// "32 x 32, 3 channels, patches of 4 x 4"
std::string picture_words(const Config& config) {
    const ModelConfig& model = config.model;
    if (read_setting(config, "model.height").empty()) return "";
    std::string words = fmt::format("{} x {}, {} channel{}", model.height, model.width,
                                    model.channels, model.channels == 1 ? "" : "s");
    if (const std::string patch = read_setting(config, "model.patch"); !patch.empty())
        words += fmt::format(", patches of {0} x {0}", patch);
    return words;
}

std::string summary(const InspectResult& result) {
    const ModelConfig& model = result.config.model;
    Rows rows;
    const auto add = [&](const char* name, const std::string& words) {
        if (!words.empty()) rows.push_back({name, words});
    };
    if (result.stored) add("file", result.stored->file);
    add("task", model.task);
    if (result.task.is_bias_alone)
        add("layers", std::to_string(model.layers));
    else
        add("mixer", mixer_words(result.config));
    const TokenKind tokens = result.task.tokens;
    if (tokens == TokenKind::values || tokens == TokenKind::patches)
        add("picture", picture_words(result.config));
    add("tokens", group_thousands(result.tokens));
    add("parameters", parameter_words(result));
    if (result.stored) {
        add("step", group_thousands(result.stored->step));
        add("loss", loss_words(result.stored->metrics, result.task));
        if (const auto& names = result.stored->classes; !names.empty())
            add("classes", fmt::format("{}: {}", names.size(), shown_names(names)));
    }
    if (result.task.has_classes && (!result.stored || result.stored->classes.empty()))
        add("classes", read_setting(result.config, "model.classes"));
    if (!result.not_finite.empty())
        add("warning", "NaN or infinity in " + shown_names(result.not_finite));
    return printable_line(result.config.name) + "\n" + aligned_table(rows, 2);
}

std::string setting_table(const json& config) {
    Rows rows;
    for (const auto& [group, settings] : config.items()) {
        if (!settings.is_object()) {
            rows.push_back(
                {group, settings.is_string() ? settings.get<std::string>() : json_text(settings)});
            continue;
        }
        for (const auto& [key, value] : settings.items())
            rows.push_back({group + "." + key,
                            value.is_string() ? value.get<std::string>() : json_text(value)});
    }
    return aligned_table(rows, 2);
}

}  // namespace

std::string inspect_words(const InspectResult& result) {
    std::string out = summary(result);
    if (!result.maps.empty()) out += "\nposition biases alone\n" + map_table(result.maps);
    if (!result.bias.empty())
        out +=
            "\nposition bias (raw w; of the visible pairs inside the window, for kernels of all "
            "taps; norm: Frobenius)\n" +
            bias_table(result.bias);
    out += fmt::format("\ntensors ({})\n", result.tensors.size());
    out += tensor_table(result.tensors);
    if (result.task.is_bias_alone) return out;  // no setting shapes it
    return out + "\nsettings\n" + setting_table(config_to_json(result.config));
}

}  // namespace aft::app
