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

namespace aft {

namespace {

// What is written is safetensors; PyTorch would refuse it under the name of its own format.
void check_export_name(const std::string& out) {
    const std::string end = fs::path(out).extension().string();
    for (const char* const other : {".pt", ".pth", ".bin", ".ckpt", ".npz"})
        if (end == other)
            fail_usage("-o {}: export writes safetensors; give it a name that ends in .safetensors",
                       shown_path(out));
}

// "; --as labml-layer fits it": of the importers whose name begins with this one. "" = none.
std::string fitting_words(const Checkpoint& checkpoint, const std::string& as) {
    for (const imports::Mapping& mapping : imports::known_mappings())
        if (mapping.info.name.starts_with(as + "-") &&
            error_words([&] { static_cast<void>(imports::revert(checkpoint, mapping)); }).empty())
            return fmt::format("; --as {} fits it", mapping.info.name);
    return "";
}

// PyTorch reads the tensors alone; the settings beside them are for the way back.
TensorFile state_dict_of(Checkpoint checkpoint) {
    checkpoint.optimizer.clear();
    checkpoint.training = nullptr;
    return to_tensor_file(checkpoint);
}

struct NamedFile {
    TensorFile file;
    std::string constructor;
};

NamedFile reverted(const Checkpoint& checkpoint, const imports::Mapping& mapping) {
    TensorFile file = imports::revert(checkpoint, mapping);
    return {std::move(file), imports::constructor_words(mapping, checkpoint.config)};
}

NamedFile reverted(const Checkpoint& checkpoint, const std::string& as) {
    if (as == "torch") return {state_dict_of(checkpoint), ""};
    check_whole(checkpoint, "export --as " + as);
    const imports::Mapping mapping = find_room(imports::known_mappings(), as, "--as");
    return with_error([&] { return reverted(checkpoint, mapping); },
                      [&](const Error& error) {
                          return Error(error.what() + fitting_words(checkpoint, as), error.kind());
                      });
}

}  // namespace

ExportResult export_weights(const std::string& model, const std::string& out, bool half) {
    check_export_name(out);
    ExportResult result{.file = out, .dtype = half ? "F16" : "F32", .constructor = ""};
    with_plain_errors([&] {
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
    check_export_name(out);
    ExportResult result{.file = out, .dtype = "F32", .constructor = ""};
    with_plain_errors([&] {
        const Checkpoint checkpoint = read_checkpoint(model);
        (void)make_net(checkpoint);
        NamedFile named;
        with_context(model, [&] { named = names(checkpoint); });
        result.constructor = named.constructor;
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
    const imports::Mapping mapping = imports::read_mapping(map);
    return export_under(model, out, [&](const Checkpoint& checkpoint) {
        check_whole(checkpoint, "export --map");
        return reverted(checkpoint, mapping);
    });
}

}  // namespace aft
