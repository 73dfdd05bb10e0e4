#include "model/jobs/export.h"

#include <ATen/ATen.h>

#include <functional>

#include "core/caught.h"
#include "core/files.h"
#include "core/outside.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/format.h"
#include "model/checkpoints/importers/constructor.h"
#include "model/checkpoints/importers/revert.h"
#include "model/device.h"
#include "model/jobs/weights_out.h"

namespace aft {

namespace {

// "; --as labml-layer fits it": of the importers whose name begins with this one. "" = none.
std::string fitting_words(const Checkpoint& checkpoint, const std::string& as) {
    for (const imports::Mapping& mapping : imports::known_mappings())
        if (mapping.info.name.starts_with(as + "-") &&
            error_words([&] { static_cast<void>(imports::revert(checkpoint, mapping)); }).empty())
            return fmt::format("; --as {} fits it", mapping.info.name);
    return "";
}

// Why names for models of another task do not fit; "" where the task is the same.
std::string other_task(const Checkpoint& checkpoint, const imports::Mapping& mapping) {
    const std::string& task = checkpoint.config.model.task;
    const auto found = mapping.settings.find("model.task");
    if (found == mapping.settings.end() || found->second == task) return "";
    if (found->second.starts_with('=')) return "";  // as the tensors say
    const bool is_layer = task_traits(checkpoint.config.model).is_mixer_alone;
    return fmt::format("this model is {}of model.task={}; {} is for model.task={}",
                       is_layer ? "a layer alone, " : "", task, mapping.info.name, found->second);
}

// PyTorch reads the tensors alone; the settings beside them are for the way back.
TensorFile state_dict_of(Checkpoint checkpoint) {
    checkpoint.optimizer.clear();
    checkpoint.training = nullptr;
    return to_tensor_file(checkpoint);
}

struct NamedFile {
    TensorFile file;
    std::string constructor{};
    std::vector<imports::Left> left_out{};
};

NamedFile reverted(const Checkpoint& checkpoint, const imports::Mapping& mapping) {
    imports::Reverted back = imports::revert(checkpoint, mapping);
    return {std::move(back.file), imports::constructor_words(mapping, checkpoint.config),
            std::move(back.left_out)};
}

NamedFile reverted(const Checkpoint& checkpoint, const std::string& as) {
    if (as == "torch") return {.file = state_dict_of(checkpoint)};
    check_whole(checkpoint, "export --as " + as);
    const imports::Mapping mapping = find_room(imports::known_mappings(), as, "--as");
    return with_error(
        [&] { return reverted(checkpoint, mapping); },
        [&](const Error& error) {
            const std::string other = other_task(checkpoint, mapping);
            return Error((other.empty() ? error.what() : other) + fitting_words(checkpoint, as),
                         error.kind());
        });
}

}  // namespace

ExportResult export_weights(const std::string& model, const std::string& out, bool half) {
    ExportResult result{.file = out, .dtype = half ? "F16" : "F32", .constructor = ""};
    with_plain_errors([&] {
        check_weights_out("export", out, {resolve_model(model).string()});
        Checkpoint checkpoint = read_checkpoint(model);
        (void)make_net(checkpoint);  // a file that does not fit its config is not exported
        checkpoint.optimizer.clear();
        checkpoint.training = nullptr;
        for (auto& [name, tensor] : checkpoint.weights) {
            result.parameters += tensor.numel();
            if (half && fits_half(tensor)) tensor = tensor.to(at::kHalf);
        }
        write_checkpoint(out, checkpoint);
        result.bytes = static_cast<int64_t>(fs::file_size(out));
    });
    return result;
}

namespace {

using Names = std::function<NamedFile(const Checkpoint& checkpoint)>;

ExportResult export_under(const std::string& model, const std::string& out, const Names& names) {
    ExportResult result{.file = out, .dtype = "F32", .constructor = ""};
    with_plain_errors([&] {
        check_weights_out("export", out, {resolve_model(model).string()});
        const Checkpoint checkpoint = read_checkpoint(model);
        (void)make_net(checkpoint);
        NamedFile named;
        with_context(model, [&] { named = names(checkpoint); });
        result.constructor = named.constructor;
        for (const imports::Left& row : named.left_out)
            result.left_out.push_back({row.name, row.why, row.shape});
        for (const auto& [name, tensor] : checkpoint.weights) result.parameters += tensor.numel();
        write_tensors(out, named.file);
        result.bytes = static_cast<int64_t>(fs::file_size(out));
    });
    return result;
}

}  // namespace

ExportResult export_names(const std::string& model, const std::string& out, const std::string& as) {
    return export_under(model, out,
                        [&](const Checkpoint& checkpoint) { return reverted(checkpoint, as); });
}

ExportResult export_mapped(const std::string& model, const std::string& out,
                           const std::string& map) {
    check_weights_out("export", out, {map});
    const imports::Mapping mapping = imports::read_mapping(map);
    return export_under(model, out, [&](const Checkpoint& checkpoint) {
        check_whole(checkpoint, "export --map");
        return reverted(checkpoint, mapping);
    });
}

}  // namespace aft
