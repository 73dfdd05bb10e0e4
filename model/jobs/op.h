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
    // `in` also holds what the caller's own code gives: y, and with grad dq, dk, ...; out may be
    // empty then.
    bool compare = false;
    double within = 1e-5;  // largest relative difference that agrees
};
// Of one output: the caller's against ours, at the place where they differ most.
struct OpDifference {
    std::string name;
    std::vector<int64_t> shape = {}, at = {};  // at: index of that place; empty: no values
    double largest = 0;                        // |theirs - ours| there
    double relative = 0;                       // that, over the largest |ours| of the tensor
    double theirs = 0, ours = 0;
    int64_t not_finite = 0;  // of theirs
};
struct OpResult {
    std::string name, backend, precision, out;            // as asked for
    std::map<std::string, std::vector<int64_t>> outputs;  // name -> shape: y, dq, ...
    std::vector<std::string> ignored;                     // tensors of the file without a use
    double seconds = 0;                                   // of the operator and its gradient
    int64_t exact_blocks = 0;                             // that the exact fallback computed
    double within = 0;                                    // of the request
    std::vector<OpDifference> differences = {};           // with compare: y first
    // All differences are at most `within`; false where nothing was compared.
    [[nodiscard]] bool agrees() const;
};
[[nodiscard]] OpResult op_job(const OpRequest& request);
// The operators, and which fields of a request each reads.
struct OpTraits {
    std::string name;
    bool has_window = false, has_grid = false, has_outside = false;
};
[[nodiscard]] std::vector<OpTraits> op_traits();
// What OpRequest::backend may be, and cuda, which a build without it refuses with the reason.
[[nodiscard]] std::vector<std::string> op_backends();

}  // namespace aft
