// Settings as JSON, as a config or a checkpoint's metadata holds them, and as the text of --set.
#include <cmath>

#include "core/json.h"
#include "core/settings.h"
#include "tests/fuzz/refused.h"

namespace {

struct Oven {
    int64_t trays = 2;
    double degrees = 180;
    bool fan = true;
    std::string mode = "bake", name = "oven";

    aft::SettingRows rows() {
        return {{.key = "oven.trays", .value = &trays, .help = "", .min = 0, .max = 8},
                {.key = "oven.degrees", .value = &degrees, .help = "", .max = 300},
                {.key = "oven.fan", .value = &fan, .help = ""},
                {.key = "oven.mode", .value = &mode, .help = "", .choices = {"bake", "grill"}},
                {.key = "name", .value = &name, .help = ""}};
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    using namespace aft;
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    Oven oven;
    SettingRows rows = oven.rows();
    for (const Setting& row : oven.rows()) is_taken([&] { set_from_text(rows, row.key, text); });
    is_taken([&] { set_from_text(rows, text, "1"); });
    nlohmann::json json;
    if (!is_taken([&] { json = parse_json(text, {.file = "oven.json"}); })) return 0;
    require(found_json(json).size() <= 500, "what was found is said in short", found_json(json));
    if (!is_taken([&] { settings_from_json(rows, json, "oven.json"); })) return 0;
    require(oven.trays >= 0 && oven.trays <= 8 && oven.degrees <= 300, "values are in range", "");
    Oven second;
    SettingRows copied = second.rows();
    settings_from_json(copied, settings_to_json(rows), "again");
    require(settings_to_json(copied) == settings_to_json(rows), "settings read back the same", "");
    return 0;
}
