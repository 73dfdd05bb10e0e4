// Settings as JSON, as a config or a checkpoint's metadata holds them, and as the text of --set.
#include "core/json.h"
#include "tests/core/oven.h"
#include "tests/fuzz/refused.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    using namespace aft;
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    OvenSettings oven;
    SettingRows rows = oven.rows();
    for (const Setting& row : oven.rows()) is_taken([&] { set_from_text(rows, row.key, text); });
    is_taken([&] { set_from_text(rows, text, "1"); });
    nlohmann::json json;
    if (!is_taken([&] { json = parse_json(text, {.file = "oven.json"}); })) return 0;
    require(found_json(json).size() <= 500, "what was found is said in short", found_json(json));
    if (!is_taken([&] { settings_from_json(rows, json, "oven.json"); })) return 0;
    require(oven.trays >= 1 && oven.trays <= 8 && oven.heat >= 0, "values are in range", "");
    OvenSettings second;
    SettingRows copied = second.rows();
    settings_from_json(copied, settings_to_json(rows), "again");
    require(settings_to_json(copied) == settings_to_json(rows), "settings read back the same", "");
    return 0;
}
