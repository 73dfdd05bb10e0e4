// An idx file of labels or pictures, plain or gzip: the first byte says which.
#include "model/data/files/idx.h"
#include "tests/fuzz/refused.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    using namespace aft;
    if (size < 1) return 0;
    const IdxForm form{.dimensions = bytes[0] & 1 ? size_t{3} : size_t{1},
                       .is_packed = (bytes[0] & 2) != 0};
    const std::string file(reinterpret_cast<const char*>(bytes + 1), size - 1);
    Idx idx;
    if (!is_taken([&] { idx = parse_idx(file, form, "train-images-idx3-ubyte"); })) return 0;
    uint64_t total = idx.data_at;
    require(idx.shape.size() == form.dimensions, "an extent for each dimension", "");
    uint64_t values = 1;
    for (const int64_t extent : idx.shape) {
        require(extent > 0, "extents are positive", std::to_string(extent));
        values *= static_cast<uint64_t>(extent);
    }
    total += values;
    require(idx.bytes.size() == total, "the data are what the extents say", std::to_string(total));
    return 0;
}
