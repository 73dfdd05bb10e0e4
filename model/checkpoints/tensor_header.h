// The JSON header of a safetensors file: parsing with every rule of the format checked, and
// printing. Called by the safetensors room and by tests. Any thread, no state, memory bounded by
// the header's length. Never touches tensor data, knows no LibTorch. Errors: aft::Error with
// the path and the tensor.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace aft {

struct TensorEntry {
    std::string name{}, dtype{};   // dtype as the format writes it: "F32"
    std::vector<int64_t> shape{};  // empty = a scalar
    uint64_t begin = 0, end = 0;   // bytes from the end of the header
};

struct TensorHeader {
    std::vector<TensorEntry> tensors;  // in the order of their bytes
    std::map<std::string, std::string> metadata;
};

inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit

// text: the header without its length; data_bytes: what follows it in the file. Checked: UTF-8,
// JSON, no key twice, known fields only, offsets contiguous from 0 to data_bytes, sizes = shape x
// dtype without overflow.
[[nodiscard]] TensorHeader parse_tensor_header(std::string_view text, uint64_t data_bytes,
                                               const std::string& path);
// The JSON text, padded with blanks to a multiple of 8.
[[nodiscard]] std::string print_tensor_header(const TensorHeader& header);

}  // namespace aft
