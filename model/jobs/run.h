// Job: a model, one block or one mixer on a caller's own tensors. Plain types. No LibTorch. Blocks
// until done; any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace aft {

struct RunRequest {
    std::string model, in, out, part, device = "cpu";  // part: "", mixer, block
    int64_t layer = -1;
};
struct RunResult {
    std::string out, tensor;     // file; the name of what is in it: logits, y
    std::vector<int64_t> shape;  // of the tensor
};
[[nodiscard]] RunResult run_job(const RunRequest& request);

}  // namespace aft
