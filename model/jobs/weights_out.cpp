#include "model/jobs/weights_out.h"

#include "core/check.h"
#include "core/files.h"
#include "core/outside.h"

namespace aft {

void check_weights_out(const std::string& command, const std::string& out,
                       const std::vector<std::string>& inputs) {
    // What is written is safetensors; PyTorch would refuse it under the name of its own format.
    const std::string end = lower_ending(out);
    for (const char* const other : {".pt", ".pth", ".bin", ".ckpt", ".npz"})
        if (end == other)
            fail_usage("-o {}: {} writes safetensors; give it a name that ends in .safetensors",
                       shown_path(out), command);
    for (const std::string& input : inputs) {
        std::error_code none_there;
        if (!input.empty() && fs::equivalent(out, input, none_there))
            fail_usage(
                "-o {}: {} reads this file ({}) and would write over it; give -o another "
                "name",
                shown_path(out), command, shown_path(input));
    }
}

}  // namespace aft
