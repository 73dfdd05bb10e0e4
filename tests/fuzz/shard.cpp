// A tar shard of pictures and labels: headers by libarchive, keys and labels by us.
#include "core/warnings.h"
#include "model/data/files/shard_scan.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/refused.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    using namespace aft;
    [[maybe_unused]] static const WarningSink before = set_warning_sink([](const std::string&) {});
    const MemoryFile file(bytes, size);
    std::vector<ShardExample> examples;
    if (!is_taken([&] { examples = scan_shard(file.path(), -1); })) return 0;
    for (const ShardExample& example : examples) {
        for (const std::string& words : {example.problem, example.label_problem, example.label})
            require(words == printable_line(words), "a message can be shown as it is", words);
        if (!example.problem.empty()) continue;
        const auto end =
            static_cast<uint64_t>(example.offset) + static_cast<uint64_t>(example.size);
        require(example.offset >= 0 && example.size >= 0 && end <= size,
                "a picture lies within the file", example.name);
        require(printable_line(example.name) == example.name, "a name can be shown", example.name);
    }
    return 0;
}
