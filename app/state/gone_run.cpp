#include "app/state/gone_run.h"

#include <filesystem>

namespace aft::app {

bool is_run_gone(const ModelView& ui) {
    const Status& s = ui.status;
    if (s.error.empty() || s.path.empty() || s.layers.empty()) return false;
    std::error_code ignored;
    return !std::filesystem::exists(s.path, ignored);
}

}  // namespace aft::app
