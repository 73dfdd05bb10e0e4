// Zip archives as torch.save writes them: every member that is listed can be read or is refused.
#include "model/checkpoints/zip.h"

#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/refused.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    const aft::MemoryFile file(bytes, size);
    aft::is_taken([&] {
        aft::ZipFile zip(file.path());
        uint64_t total = 0;
        for (const auto& entry : zip.members()) {
            total += entry.second.bytes;
            aft::is_taken([&] {
                const std::string text = zip.read_text(entry.second, size);
                aft::require(text.size() == entry.second.bytes, "a member is read whole",
                             entry.first);
            });
        }
        aft::require(total <= size, "members are no larger than the file", std::to_string(total));
    });
    return 0;
}
