// Storages of a file of torch.save: where the numbers of its tensors are. One thread; blocks on the
// disk; a storage is read once, when a tensor of it is made.
#pragma once
#include <ATen/core/Tensor.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "model/checkpoints/pickle.h"

namespace aft {

// A file from before PyTorch 1.6 begins with a pickle of its magic number.
inline constexpr std::string_view kLegacyStart{
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 14};

struct PtStorage {
    std::string key;
    c10::ScalarType type = c10::ScalarType::Float;
    int64_t count = 0;  // numbers
};

class PtStorages {
  public:
    PtStorages() = default;
    PtStorages(const PtStorages&) = delete;
    PtStorages& operator=(const PtStorages&) = delete;
    virtual ~PtStorages() = default;

    [[nodiscard]] virtual const Pickle& pickle() const = 0;  // of the object
    [[nodiscard]] virtual const std::string& where() const = 0;
    [[nodiscard]] virtual uint64_t file_bytes() const = 0;
    // One dimension of `count` numbers; Error where the file has fewer.
    [[nodiscard]] virtual at::Tensor load(const PtStorage& storage) = 0;
    // Of a tensor's first argument; `dtype` ("torch.float32") where the storage has no type.
    [[nodiscard]] PtStorage find(const Pickle& pickle, const PickleNode& id,
                                 std::string_view dtype) const;
};

// By content, zip or legacy. Throws Error naming the path.
[[nodiscard]] std::unique_ptr<PtStorages> open_pt_storages(const std::filesystem::path& path);

}  // namespace aft
