#include "model/train/frozen.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "core/check.h"
#include "core/outside.h"
#include "core/text.h"

namespace aft {

namespace {

const char* kind_name(ParameterGroup group) {
    switch (group) {
        case ParameterGroup::linear_weight:
            return "weights";
        case ParameterGroup::bias:
            return "linear_biases";
        case ParameterGroup::norm:
            return "norms";
        case ParameterGroup::embedding:
            return "embeddings";
        case ParameterGroup::position_bias:
            return "biases";
        case ParameterGroup::fixed:
            break;
    }
    return "";
}

// The paper's letters in words; the query of AFT is its gate.
std::vector<std::string> words_of(std::string_view part) {
    if (part == "q") return {"queries", "gates"};
    if (part == "k") return {"keys"};
    if (part == "v") return {"values"};
    if (part == "o") return {"output"};
    return {};
}

std::vector<std::string> parts_of(std::string_view text, std::string_view separators) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const size_t end = std::min(text.find_first_of(separators), text.size());
        if (end > 0) parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

bool is_block_number(const std::string& text) {
    return text.find_first_not_of("0123456789") == std::string::npos;
}

// All names that a parameter goes by.
std::set<std::string> names_of(const Parameter& parameter) {
    if (parameter.group == ParameterGroup::fixed) return {};  // nothing trains it
    std::set<std::string> names{kind_name(parameter.group)};
    for (const std::string& part : parts_of(parameter.name, ".")) {
        // Every one stands in a block; weight and bias are kinds.
        if (is_block_number(part) || part == "blocks" || part == "weight" || part == "bias")
            continue;
        names.insert(part);
        for (const std::string& word : words_of(part)) names.insert(word);
    }
    return names;
}

}  // namespace

std::vector<bool> frozen_parameters(const Parameters& parameters, const std::string& freeze) {
    std::vector<bool> frozen(parameters.size(), false);
    for (const std::string& wanted : parts_of(freeze, ", ")) {
        bool is_known = false;
        std::set<std::string> known;
        for (size_t i = 0; i < parameters.size(); ++i) {
            std::set<std::string> names = names_of(parameters[i]);
            if (names.contains(wanted)) frozen[i] = is_known = true;
            known.merge(names);
        }
        if (is_known) continue;
        const std::string near = nearest_word(wanted, {known.begin(), known.end()});
        fail_usage("train.freeze: this model has no parameters '{}'{}; it has: {}",
                   printable_line(wanted), near.empty() ? "" : fmt::format(" ('{}'?)", near),
                   fmt::join(known, ", "));
    }
    return frozen;
}

}  // namespace aft
