#include "model/train/warm_start.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <map>

#include "core/check.h"
#include "model/checkpoints/description.h"
#include "model/checkpoints/format.h"
#include "model/checkpoints/importers/convert.h"

namespace aft {

namespace {

Checkpoint read_any(const std::string& from) {
    if (std::filesystem::is_directory(from)) return read_checkpoint(from);
    const TensorFile file = read_tensors(from);
    if (file.metadata.contains(kDescriptionKey)) return read_checkpoint(from);
    return imports::convert(
               imports::recognise(file, {.path = from, .as = "", .map = "", .given = {}}), from, {})
        .checkpoint;
}

bool has_attention(const ModelConfig& model) {
    return mixer_traits(model).bias == BiasLayout::attention;
}

bool is_of_queries(const std::string& name) {
    return name.find(".mixer.q.") != std::string::npos ||
           name.find(".mixer.k.") != std::string::npos;
}

bool is_over_positions(const std::string& name) {
    return name == "embed.position.weight" || name.ends_with(".mixer.w") ||
           name.ends_with(".mixer.u") || name.ends_with(".mixer.r");
}

// The common part of both, from the first position on; false where the rest differs.
bool copy_common(const at::Tensor& from, at::Tensor to, bool is_square) {
    if (from.dim() != 2 || to.dim() != 2) return false;
    const int64_t rows = std::min(from.size(0), to.size(0));
    const int64_t columns = is_square ? rows : to.size(1);
    if (!is_square && from.size(1) != to.size(1)) return false;
    to.narrow(0, 0, rows)
        .narrow(1, 0, columns)
        .copy_(from.narrow(0, 0, rows).narrow(1, 0, columns));
    return true;
}

// Why a parameter is not taken; "" = it was, and its value is in `to` now.
std::string why_not(const Parameter& parameter, const at::Tensor* from, const ModelConfig& theirs,
                    const ModelConfig& ours) {
    if (from == nullptr) return "not there";
    if (is_of_queries(parameter.name) && has_attention(theirs) != has_attention(ours))
        return "queries and keys of attention are others than those of AFT";
    if (from->sizes() == parameter.value.sizes()) {
        at::Tensor(parameter.value).copy_(*from);
        return "";
    }
    const bool is_text = task_traits(theirs).is_text() && task_traits(ours).is_text();
    if (is_text && is_over_positions(parameter.name) &&
        copy_common(*from, parameter.value, parameter.name.ends_with(".mixer.w")))
        return "";
    return fmt::format("there it has shape [{}], here [{}]", fmt::join(from->sizes(), ", "),
                       fmt::join(parameter.value.sizes(), ", "));
}

}  // namespace

WarmStart warm_start(const Config& fitted, const std::string& from) {
    const c10::NoGradGuard no_grad;
    const Checkpoint theirs = read_any(from);
    check_whole(theirs, "train --from");
    std::map<std::string, const at::Tensor*> stored;
    for (const auto& [name, tensor] : theirs.weights) stored[name] = &tensor;
    Net net(fitted.model, static_cast<uint64_t>(fitted.train.seed));
    WarmStart out;
    out.checkpoint.config = fitted;
    for (Parameter& parameter : net.parameters()) {
        const auto found = stored.find(parameter.name);
        const std::string why = why_not(parameter, found == stored.end() ? nullptr : found->second,
                                        theirs.config.model, fitted.model);
        if (why.empty())
            out.taken.push_back(parameter.name);
        else
            out.fresh.push_back(parameter.name + " (" + why + ")");
        if (found != stored.end()) stored.erase(found);
        out.checkpoint.weights.emplace_back(parameter.name, parameter.value.detach().clone());
    }
    for (const auto& [name, tensor] : stored) out.unused.push_back(name);
    if (out.taken.empty())
        fail_usage("--from {}: nothing of it fits this model: {}", from, out.fresh.front());
    return out;
}

}  // namespace aft
