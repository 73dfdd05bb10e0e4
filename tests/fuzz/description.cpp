// What a checkpoint's metadata say of it.
#include "model/checkpoints/description.h"
#include "core/json.h"
#include "model/maps.h"
#include "tests/fuzz/refused.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    using namespace aft;
    const std::string text(reinterpret_cast<const char*>(bytes), size);
    Description found;
    if (!is_taken([&] { found = parse_description({{kDescriptionKey, text}}, "a.safetensors"); }))
        return 0;
    require(found.config.is_object() != found.maps.is_object(), "there is a config, or maps",
            found_json(found.config));
    require(found.step >= 0, "a step is 0 or more", std::to_string(found.step));
    for (const nlohmann::json* part : {&found.metrics, &found.data, &found.training})
        require(part->is_null() || part->is_object(), "parts are objects", found_json(*part));
    if (found.maps.is_null()) return 0;
    MapsConfig maps;
    if (!is_taken([&] { maps = maps_from_json(found.maps, "a.safetensors: afterimage.maps"); }))
        return 0;
    const auto layers = static_cast<int64_t>(maps.layers.size());
    require(layers >= 1 && layers <= kMostMapLayers, "so many layers", std::to_string(layers));
    const int64_t tokens = maps.longest().tokens();
    require(tokens >= 1 && tokens <= kMostMapTokens, "so many positions", std::to_string(tokens));
    require(maps_from_json(maps_to_json(maps), "again") == maps, "written as read", "another");
    return 0;
}
