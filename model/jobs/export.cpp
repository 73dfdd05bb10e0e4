#include "model/jobs/export.h"

#include <ATen/ATen.h>

#include "core/caught.h"
#include "core/files.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/format.h"
#include "model/checkpoints/importers/revert.h"
#include "model/device.h"

namespace aft {

ExportResult export_weights(const std::string& model, const std::string& out, bool half) {
    ExportResult result{.file = out, .dtype = half ? "F16" : "F32"};
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

ExportResult export_names(const std::string& model, const std::string& out, const std::string& as) {
    ExportResult result{.file = out, .dtype = "F32"};
    with_plain_errors([&] {
        const Checkpoint checkpoint = read_checkpoint(model);
        if (as != "torch") check_whole(checkpoint, "export --as " + as);
        (void)make_net(checkpoint);
        TensorFile file;
        if (as == "torch")
            file.tensors = checkpoint.weights;
        else
            file = with_context(model, [&] {
                return imports::revert(checkpoint,
                                       find_room(imports::known_mappings(), as, "--as"));
            });
        for (const auto& [name, tensor] : checkpoint.weights) result.parameters += tensor.numel();
        write_tensors(out, file);
        result.bytes = static_cast<int64_t>(fs::file_size(out));
    });
    return result;
}

}  // namespace aft
