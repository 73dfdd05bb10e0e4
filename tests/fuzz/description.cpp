// What a checkpoint's metadata say of it.
#include "model/checkpoints/description.h"
#include "core/json.h"
#include "tests/fuzz/refused.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    using namespace aft;
    const std::string text(reinterpret_cast<const char*>(bytes), size);
    Description found;
    if (!is_taken([&] { found = parse_description({{kDescriptionKey, text}}, "a.safetensors"); }))
        return 0;
    require(found.config.is_object(), "there is a config", found_json(found.config));
    require(found.step >= 0, "a step is 0 or more", std::to_string(found.step));
    for (const nlohmann::json* part : {&found.metrics, &found.data, &found.training})
        require(part->is_null() || part->is_object(), "parts are objects", found_json(*part));
    return 0;
}
