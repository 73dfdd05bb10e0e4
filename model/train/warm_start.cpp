#include "model/train/warm_start.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <map>

#include "core/caught.h"
#include "core/check.h"
#include "core/outside.h"
#include "model/checkpoints/description.h"
#include "model/checkpoints/format.h"
#include "model/checkpoints/importers/constructor.h"
#include "model/checkpoints/importers/convert.h"
#include "model/train/position_grid.h"

namespace aft {

namespace {

// What an importer asks for (--map, --as, --set) is no flag of train.
std::string import_first(const std::string& from) {
    return fmt::format(
        "; these are flags of import: afterimage import {} --map FILE.json (or --as NAME, "
        "--set KEY=VALUE) -o MODEL.safetensors, then train --from MODEL.safetensors",
        shown_path(from));
}

Checkpoint read_any(const std::string& from) {
    if (std::filesystem::is_directory(from)) return read_checkpoint(from);
    const TensorFile file = read_tensors(from);
    if (file.metadata.contains(kDescriptionKey)) return read_checkpoint(from);
    const imports::Assignments stored = imports::with_stored(file, from, {});
    imports::ImportChoice wanted{.path = from, .as = "", .map = "", .given = {}};
    for (const auto& [key, value] : stored) wanted.given.push_back(key);
    return with_error(
        [&] { return imports::convert(imports::recognise(file, wanted), from, stored).checkpoint; },
        [&](const Error& error) {
            const std::string words = error.what();
            const bool asks = words.find("--map") != std::string::npos ||
                              words.find("--as ") != std::string::npos ||
                              words.find("--set ") != std::string::npos;
            return Error(words + (asks ? import_first(from) : ""), error.kind());
        });
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

// What is taken from `theirs` into a net of `ours`.
class Taking {
  public:
    Taking(const ModelConfig& theirs, const ModelConfig& ours, WarmStart& out)
        : theirs_(theirs),
          ours_(ours),
          from_(position_grid(theirs)),
          to_(position_grid(ours)),
          out_(out) {}

    // Why a parameter is not taken; "" = it was, and its value is in `parameter` now.
    [[nodiscard]] std::string why_not(const Parameter& parameter, const at::Tensor* from) {
        if (from == nullptr) return "not there";
        if (is_of_queries(parameter.name) && has_attention(theirs_) != has_attention(ours_))
            return "queries and keys of attention are others than those of AFT";
        const bool is_table = is_over_positions(parameter.name);
        if (is_table && can_resize(from_, to_) && from_ != to_) return resize(parameter, *from);
        if (from->sizes() == parameter.value.sizes()) {
            at::Tensor(parameter.value).copy_(*from);
            return "";
        }
        const bool is_text = task_traits(theirs_).is_text() && task_traits(ours_).is_text();
        if (is_text && is_table &&
            copy_common(*from, parameter.value, parameter.name.ends_with(".mixer.w"))) {
            out_.cut.push_back(fmt::format("{} ({} of its {} positions, for {} here)",
                                           parameter.name,
                                           std::min(from->size(0), parameter.value.size(0)),
                                           from->size(0), parameter.value.size(0)));
            return "";
        }
        return unlike(parameter, *from);
    }

  private:
    static std::string unlike(const Parameter& parameter, const at::Tensor& from) {
        return fmt::format("there it has shape [{}], here [{}]", fmt::join(from.sizes(), ", "),
                           fmt::join(parameter.value.sizes(), ", "));
    }

    // Inside a window offsets in raster order count, which are others in a picture of another
    // width.
    [[nodiscard]] std::string resize(const Parameter& parameter, const at::Tensor& from) {
        const bool is_embedding = parameter.name == "embed.position.weight";
        if (!is_embedding && (mixer_traits(theirs_).window > 0 || mixer_traits(ours_).window > 0))
            return "a window is of another picture size";
        const bool is_square = parameter.name.ends_with(".mixer.w");
        const bool fits = from.dim() == 2 && from.size(0) == from_.tokens() &&
                          from.size(1) == (is_square ? from.size(0) : parameter.value.size(1));
        if (!fits) return unlike(parameter, from);
        if (is_square && from.isneginf().any().item<bool>())
            return "its masks are of another picture size";
        at::Tensor(parameter.value)
            .copy_(is_square ? resized_pairs(from, from_, to_, parameter.value)
                             : resized_table(from, from_, to_, parameter.value));
        const bool is_same = from_.words() == to_.words();
        out_.resized.push_back(is_same ? fmt::format("{} ({} tokens before the grid, here {})",
                                                     parameter.name, from_.prefix, to_.prefix)
                                       : fmt::format("{} ({} to {}, bicubic)", parameter.name,
                                                     from_.words(), to_.words()));
        return "";
    }

    const ModelConfig& theirs_;
    const ModelConfig& ours_;
    PositionGrid from_, to_;
    WarmStart& out_;
};

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
    Taking taking(theirs.config.model, fitted.model, out);
    for (Parameter& parameter : net.parameters()) {
        const auto found = stored.find(parameter.name);
        const at::Tensor* const value = found == stored.end() ? nullptr : found->second;
        const std::string why = taking.why_not(parameter, value);
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
