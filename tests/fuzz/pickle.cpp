// Pickles as torch.save writes them: whatever is taken is a tree whose items are there.
#include "model/checkpoints/pickle.h"
#include "tests/fuzz/refused.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    using namespace aft;
    constexpr std::string_view kGlobals[] = {
        "collections.OrderedDict", "torch._utils._rebuild_tensor_v2", "torch.FloatStorage"};
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    size_t at = 0;
    is_taken([&] {
        const Pickle pickle(text, at, {.globals = kGlobals, .where = "a.pt"});
        require(at <= size, "a pickle ends within the bytes", std::to_string(at));
        for (uint32_t i = 0; i < pickle.size(); ++i)
            for (const uint32_t item : pickle[i].items)
                require(item < pickle.size(), "an item is a value", std::to_string(item));
    });
    return 0;
}
