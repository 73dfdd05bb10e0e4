// Job: one operator on a caller's own tensors. Plain types. No LibTorch. Blocks until done; any
// thread.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace aft {

struct OpRequest {
    std::string name, in, out, precision = "fp32", backend = "reference", device = "cpu";
    std::optional<int64_t> window;  // local needs one
    int64_t grid_height = 0, grid_width = 0;
    bool causal = false, grad = false, outside_hidden = false;
};
struct OpResult {
    std::string name, backend, precision, out;            // as asked for
    std::map<std::string, std::vector<int64_t>> outputs;  // name -> shape: y, dq, ...
    std::vector<std::string> ignored;                     // tensors of the file without a use
    double seconds = 0;                                   // of the operator and its gradient
    int64_t exact_blocks = 0;                             // that the exact fallback computed
};
[[nodiscard]] OpResult op_job(const OpRequest& request);
// What OpRequest::backend may be, and cuda, which a build without it refuses with the reason.
[[nodiscard]] std::vector<std::string> op_backends();

}  // namespace aft
