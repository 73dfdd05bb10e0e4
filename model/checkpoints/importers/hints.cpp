#include "model/checkpoints/importers/hints.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/outside.h"
#include "core/text.h"
#include "model/checkpoints/importers/pattern.h"
#include "model/nn/parameters.h"
#include "model/tasks/task.h"

namespace aft::imports {

namespace {

bool has_any(const at::Tensor& flags) {
    return flags.any().item<bool>();
}

// What a bias [target, source] says, where all of it lies above the diagonal; "" = not all.
std::string unseen_part(const at::Tensor& w) {
    const at::Tensor values = w.isfinite().logical_and(w.ne(0));
    if (has_any(values.triu(1)) && !has_any(values.tril(-1))) return "values";
    const at::Tensor hidden = w.isneginf();
    const at::Tensor shown_above = hidden.logical_not().triu(1);  // none of a causal mask
    return has_any(hidden.triu(1)) && has_any(shown_above) && !has_any(hidden.tril()) ? "-inf" : "";
}

}  // namespace

void add_unmet(const Recognised& found, std::vector<std::string>& notes) {
    const std::vector<Rule>& rules = found.mapping.rules;
    std::vector<bool> met(rules.size()), fits(rules.size());
    for (const auto& [name, tensor] : found.view.tensors) {
        bool is_taken = false;
        for (size_t i = 0; i < rules.size(); ++i) {
            if (!match(rules[i].from, name)) continue;
            fits[i] = true;
            if (!is_taken) met[i] = true;
            is_taken = true;
        }
    }
    for (size_t i = 0; i < rules.size(); ++i)
        if (!met[i])
            notes.push_back(fmt::format("the rule of '{}' met no tensor{}", shown(rules[i].from),
                                        fits[i] ? ": rules before it take them all" : ""));
}

void add_unseen(const Converted& made, std::vector<std::string>& notes) {
    const ModelConfig& model = made.checkpoint.config.model;
    if (!model.causal()) return;
    const int64_t T = model.tokens();
    for (const Moved& row : made.moved) {
        const int64_t layer = parameter_layer(row.to);
        if (row.to != fmt::format("blocks.{}.mixer.w", layer) ||
            row.shape != std::vector<int64_t>{T, T} || !mixer_traits(model, layer).has_bias())
            continue;
        const auto& weights = made.checkpoint.weights;
        const auto w = std::find_if(weights.begin(), weights.end(),
                                    [&](const auto& one) { return one.first == row.to; });
        const std::string part = w == weights.end() ? "" : unseen_part(w->second);
        if (part.empty()) continue;
        const bool is_transposed = row.how.find("transposed") != std::string::npos;
        notes.push_back(fmt::format(
            "'{}' -> '{}': its {} all lie where a causal target cannot see: is \"transpose\" {}?",
            shown(row.from), row.to, part, is_transposed ? "one too many" : "missing"));
    }
}

std::string nearest_target(const Left& strange, const std::vector<Left>& missing,
                           const std::vector<std::string>& names) {
    std::vector<std::string> fitting;
    for (const Left& one : missing)
        if (one.shape == strange.shape) fitting.push_back(one.name);
    if (const std::string near = nearest_word(strange.name, fitting); !near.empty()) return near;
    const int64_t layer = parameter_layer(strange.name);
    std::erase_if(fitting, [&](const std::string& name) { return parameter_layer(name) != layer; });
    return fitting.size() == 1 ? fitting.front() : nearest_word(strange.name, names);
}

}  // namespace aft::imports
