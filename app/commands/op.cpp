// afterimage op: one operator on your own tensors.
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/results_json.h"
#include "app/cli/work.h"
#include "app/commands/rooms.h"
#include "core/check.h"
#include "model/jobs/op.h"

namespace aft::app {
namespace {

struct OpFlags {
    OpRequest request;
    std::string grid, outside = "0";
    bool json = false;
};

int op(OpFlags& flags, const Globals& globals) {
    OpRequest& request = flags.request;
    if (!flags.grid.empty()) {
        std::tie(request.grid_height, request.grid_width) = parse_grid("--grid", flags.grid);
    }
    request.outside_hidden = flags.outside == "-inf";
    const Work work(globals);
    request.device = work.device();
    const OpResult result = op_job(request);
    print_result(to_json(result), flags.json);
    return !request.compare || result.agrees() ? 0 : 1;
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<OpFlags>();
    OpRequest& request = flags->request;
    add_text(command,
             {"NAME", "simple, full, local, conv1d, conv2d, softmax, linear", "NAME", true},
             request.name);
    add_text(command, {"IN", "q, k, v and w (or u, r; with --grad dy)", "IN.safetensors", true},
             request.in);
    add_text(command, {"OUT", "y (with --grad dq, dk, dv, dw or du, dr)", "OUT.safetensors"},
             request.out);
    add_whole(command, {"--window", "local: |t - t'| < N keeps its bias"}, request.window);
    add_switch(command, "--causal", "target t sees sources up to t", request.causal);
    add_text(command, {"--grid", "conv2d: rows and columns of the sequence", "HxW"}, flags->grid);
    add_choice(command,
               {"--outside", "local, conv1d, conv2d: bias outside the window", {"0", "-inf"}},
               flags->outside);
    add_switch(command, "--grad", "gradients too, for the dy in IN", request.grad);
    add_switch(command, "--compare",
               "IN also holds what your own code gives (y; with --grad dq, dk, ...): says how far "
               "it is from ours; OUT may be left out",
               request.compare);
    add_real(command, {"--within", "with --compare: the relative difference that agrees"},
             request.within);
    add_choice(command, {"--precision", "of the computation", {"fp32", "bf16", "fp64"}},
               request.precision);
    add_choice(command, {"--backend", "who computes", op_backends()}, request.backend);
    add_switch(command, "--json", "print one JSON object", flags->json);
    return [flags, &command](const Globals& globals) {
        if (is_given(command, "--within") && !flags->request.compare)
            fail_usage("--within is read with --compare alone");
        return op(*flags, globals);
    };
}

}  // namespace

CommandRoom op_command() {
    return {.info = {"op", "Runs one operator on your own tensors, to compare with your own code."},
            .example = "afterimage op full in.safetensors out.safetensors --causal --grad",
            .setup = setup};
}

}  // namespace aft::app
