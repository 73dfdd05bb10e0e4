// Where data come from: NAME[:PATH][?option=value&...].
#include "model/data/source.h"
#include "tests/fuzz/refused.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    using namespace aft;
    const std::string text(reinterpret_cast<const char*>(bytes), size);
    Spec spec;
    if (!is_taken([&] { spec = parse_spec(text); })) return 0;
    require(text.starts_with(spec.room), "the room is the beginning", text);
    is_taken([&] { spec.allow({"size", "levels", "gray"}); });
    is_taken([&] {
        const int64_t side = spec.integer("size", 16, 1, 1024);
        require(side >= 1 && side <= 1024, "a number is in its range", text);
    });
    is_taken([&] { static_cast<void>(spec.flag("gray", false)); });
    return 0;
}
