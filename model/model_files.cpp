#include "model/model_files.h"

namespace aft {

bool is_checkpoint_file(const std::string& path) {
    return path.ends_with(".safetensors");
}

std::string checkpoint_file(const std::string& model, int64_t step) {
    return is_checkpoint_file(model) ? model : checkpoint_path(model, step).string();
}

}  // namespace aft
