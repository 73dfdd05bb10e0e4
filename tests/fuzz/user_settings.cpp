// The window's settings: one error in words, or settings within their ranges that are written and
// read back the same.
#include "app/state/user_settings_text.h"
#include "core/caught.h"
#include "tests/fuzz/refused.h"

namespace {

void require_in_range(const aft::app::UserSettings& s) {
    using aft::require;
    require(s.zoom >= 0.5 && s.zoom <= 3, "zoom is in its range", std::to_string(s.zoom));
    require(s.trainer_share >= 0.1 && s.trainer_share <= 1, "the share is in its range", "");
    require(s.many_steps >= 1 && s.many_steps <= 1000000, "steps are in their range", "");
    require(s.attention.opacity >= 0 && s.attention.opacity <= 100, "opacity is a share", "");
    require(s.recent.size() <= 24, "recent runs are few", std::to_string(s.recent.size()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    using namespace aft;
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    app::UserSettings settings;
    if (!error_words([&] { settings = app::parse_user_settings(text); }).empty()) return 0;
    require_in_range(settings);
    const std::string written = app::user_settings_text(settings);
    const app::UserSettings again = app::parse_user_settings(written);
    require(app::user_settings_text(again) == written, "settings read back the same", written);
    return 0;
}
