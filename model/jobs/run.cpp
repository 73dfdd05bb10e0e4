#include "model/jobs/run.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "core/check.h"
#include "core/outside.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/format.h"
#include "model/checkpoints/naming.h"
#include "model/device.h"

namespace aft {

namespace {

// The named input, in the dtype of the net.
at::Tensor input_of(const TensorFile& file, const RunRequest& request, const std::string& name,
                    at::Device device) {
    const at::Tensor* found = file.find(name);
    if (found == nullptr) {
        std::vector<std::string> names;
        for (const auto& [known, tensor] : file.tensors) names.push_back(known);
        fail("{}: needs a tensor '{}', found: {}", request.in, name,
             names.empty() ? "none" : shown_names(names));
    }
    const bool whole = !found->is_floating_point();
    if (whole != (name == "tokens"))
        fail("{}: '{}' is {}, found {}", request.in, name,
             name == "tokens" ? "int64" : "float32 or float64",
             c10::toString(found->scalar_type()));
    return found->to(device, whole ? at::kLong : at::kFloat);
}

at::Tensor evaluate(const Net& net, const TensorFile& file, const RunRequest& request) {
    const at::Device device = net.parameters().front().value.device();
    if (!request.part.empty()) {
        return net.forward_layer(request.layer, request.part == "block",
                                 input_of(file, request, "x", device));
    }
    if (!net.config().causal()) return net.forward(input_of(file, request, "image", device), {});
    return net.forward_fed(input_of(file, request, "tokens", device), {});
}

}  // namespace

RunResult run_job(const RunRequest& request) {
    const at::NoGradGuard no_gradients;
    const Checkpoint checkpoint = read_checkpoint(request.model);
    check_whole(checkpoint, "run");
    const Net net = make_net(checkpoint, parse_device(request.device));
    if (!request.part.empty() && request.part != "mixer" && request.part != "block")
        fail_usage("--part {}: allowed: mixer, block", request.part);
    const int64_t layers = net.config().layers;
    if (!request.part.empty() && (request.layer < 0 || request.layer >= layers))
        fail_usage("--layer {}: there is no such layer; allowed: 0 to {}", request.layer,
                   layers - 1);
    const TensorFile in = read_tensors(request.in);
    // What does not fit is in the file.
    const at::Tensor y =
        with_error([&] { return evaluate(net, in, request).to(at::kCPU).contiguous(); },
                   [&](const Error& error) { return naming_error(request.in, error); });
    const std::string name = request.part.empty() ? "logits" : "y";
    write_tensors(request.out, {.tensors = {{name, y}}, .metadata = {}});
    return {.out = request.out, .tensor = name, .shape = y.sizes().vec()};
}

}  // namespace aft
