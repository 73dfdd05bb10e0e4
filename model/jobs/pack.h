// Job: a folder of pictures as tar shards (docs/pictures.md). Plain types. No LibTorch. Blocks
// until done; any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/progress.h"

namespace aft {

struct PackRequest {
    std::string data;  // SPEC of pictures that are files: images:DIR, options as for reading
    // "out/train-%05d.tar" or "out/train-*.tar": the number stands for % or *, "train" in the
    // file's name gives way to "val" and "test" for the other parts.
    std::string out;
    int64_t shard_mb = 256;         // MiB that a shard has at most, if it has more than a picture
    std::optional<int64_t> seed{};  // shuffles each part; none: in the order of the source
    // Replaces shards of the same names, and removes those that would be left of them.
    bool force = false;
};
struct PackedPart {
    std::string part;     // train, validation, test
    std::string pattern;  // that its shards fit
    int64_t examples = 0, shards = 0, bytes = 0;
};
struct PackResult {
    std::string data;   // SPEC that reads them: "shards:out"
    std::string index;  // the index.json
    int64_t classes = 0;
    std::vector<PackedPart> parts;
};

// Files are copied byte for byte, as KEY.jpg with KEY.cls; KEY is the picture's place in its part,
// KEY.cls the number of its class, whose names index.json has. Each shard is written atomically,
// index.json last: one that is there says that the shards are whole. The same files and request
// give the same bytes. Error before anything is written: a file that cannot be opened or is too
// large, shards that are there already (without `force`), too few digits for their number.
[[nodiscard]] PackResult pack_pictures(const PackRequest& request, const JobControl& control);

}  // namespace aft
