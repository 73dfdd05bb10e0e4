// The header of a safetensors file and the JSON in its metadata. Two bytes say how many bytes of
// data follow it; what is taken is printed and read again.
#include "core/json.h"
#include "model/checkpoints/tensor_header.h"
#include "tests/fuzz/refused.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    using namespace aft;
    if (size < 2) return 0;
    const uint64_t data_bytes = bytes[0] | uint64_t{bytes[1]} << 8;
    const std::string_view text(reinterpret_cast<const char*>(bytes + 2), size - 2);
    TensorHeader header;
    if (!is_taken([&] { header = parse_tensor_header(text, data_bytes, "a.safetensors"); }))
        return 0;
    const std::string printed = print_tensor_header(header);
    const TensorHeader again = parse_tensor_header(printed, data_bytes, "a.safetensors");
    require(again.tensors.size() == header.tensors.size() && again.metadata == header.metadata,
            "a header that is printed reads back the same", printed);
    for (const auto& [key, value] : header.metadata)
        is_taken([&text_of_key = value] {
            static_cast<void>(parse_json(text_of_key, {.file = "a.safetensors"}));
        });
    return 0;
}
