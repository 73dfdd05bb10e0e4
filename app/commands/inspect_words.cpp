#include "app/commands/inspect_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/json.h"
#include "core/outside.h"
#include "core/text.h"
#include "model/jobs.h"

namespace aft::app {
namespace {

using nlohmann::json;
using Rows = std::vector<std::vector<std::string>>;

// Columns as wide as their widest entry, two blanks apart; `right`: the first column whose entries
// end below each other.
std::string table(Rows rows, size_t right) {
    for (auto& row : rows)
        for (std::string& entry : row) entry = printable_line(entry);
    std::vector<size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string out;
    for (const auto& row : rows) {
        std::string line = " ";
        for (size_t i = 0; i < row.size(); ++i)
            line += i < right ? fmt::format(" {:<{}} ", row[i], widths[i])
                              : fmt::format(" {:>{}} ", row[i], widths[i]);
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

std::string number(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? fmt::format("{:.4g}", found->get<double>())
                                                       : "";
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

std::string tensor_table(const json& tensors) {
    Rows rows = {{"name", "dtype", "shape", "min", "max"}};
    for (const json& tensor : tensors)
        rows.push_back(
            {tensor.value("name", ""), dtype_words(tensor.value("dtype", "")),
             fmt::format("{}", fmt::join(tensor.value("shape", std::vector<int64_t>()), " x ")),
             number(tensor, "min"), number(tensor, "max")});
    return table(rows, 3);
}

std::string bias_table(const json& biases) {
    Rows rows = {{"layer", "head", "min", "max", "mean", "norm"}};
    for (const json& bias : biases)
        rows.push_back({std::to_string(bias.value("layer", 0)),
                        std::to_string(bias.value("head", 0)), number(bias, "min"),
                        number(bias, "max"), number(bias, "mean"), number(bias, "norm")});
    return table(rows, 2);
}

std::string loss_words(const json& metrics, const std::string& task_name) {
    ModelConfig model;
    model.task = task_name;
    const TaskTraits& task = task_traits(model);
    for (const std::string& key : {task.loss_key(), std::string("loss")}) {
        if (number(metrics, key.c_str()).empty()) continue;
        const std::string words = key == "loss" ? "nats" : task.metric_words;
        const std::string held_out = number(metrics, ("validation." + key).c_str());
        return fmt::format("{} {}{}", number(metrics, key.c_str()), words,
                           held_out.empty() ? "" : ", validation " + held_out);
    }
    return "";
}

std::string parameter_words(const json& result) {
    const auto layers = result.value("parameters_per_layer", std::vector<int64_t>());
    std::string words = group_thousands(result.value("parameters", int64_t{0}));
    const bool are_alike =
        !layers.empty() &&
        std::all_of(layers.begin(), layers.end(), [&](int64_t n) { return n == layers[0]; });
    if (are_alike) words += fmt::format(", {} in each layer", group_thousands(layers[0]));
    return words;
}

std::string summary(const json& result) {
    const json model = result.value("config", json::object()).value("model", json::object());
    Rows rows;
    const auto add = [&](const char* name, const std::string& words) {
        if (!words.empty()) rows.push_back({name, words});
    };
    add("file", result.value("model", ""));
    add("task", result.value("task", ""));
    add("mixer", fmt::format("{}, {} layers of width {}", model.value("mixer", ""),
                             model.value("layers", 0), model.value("dim", 0)));
    add("tokens", group_thousands(result.value("tokens", int64_t{0})));
    add("parameters", parameter_words(result));
    if (result.contains("step")) add("step", group_thousands(result.value("step", int64_t{0})));
    if (result.contains("metrics"))
        add("loss", loss_words(result["metrics"], result.value("task", "")));
    return printable_line(result.value("name", "")) + "\n" + table(rows, 2);
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
    return table(rows, 2);
}

}  // namespace

std::string inspect_words(const json& result) {
    std::string out = summary(result);
    const json biases = result.value("bias", json::array());
    if (!biases.empty())
        out +=
            "\nposition bias (raw w; of the visible pairs inside the window, for kernels of all "
            "taps)\n" +
            bias_table(biases);
    out += fmt::format("\ntensors ({})\n", result.at("tensors").size());
    out += tensor_table(result.at("tensors"));
    return out + "\nsettings\n" + setting_table(result.value("config", json::object()));
}

}  // namespace aft::app
