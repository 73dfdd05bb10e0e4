// Pictures and texts that panels asked for, and why others cannot be had. Nothing is loaded twice.
// Any thread. No LibTorch.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "model/data_item.h"

namespace aft::session {

// An example of the run's data ("validation", 3), or a picture file ("file", path).
struct ItemKey {
    std::string split, path;
    int64_t index = 0;
    [[nodiscard]] bool operator==(const ItemKey&) const = default;
    [[nodiscard]] std::string text() const;
};

class ItemCache {
  public:
    struct CachedItem {
        std::shared_ptr<const DataItem> item;  // nullptr: it failed
        ItemError error;                       // then: why
    };
    // Call it before loading: what was begun before the last clear() comes too late for put().
    [[nodiscard]] uint64_t generation() const;
    void put(const ItemKey& key, CachedItem entry, uint64_t generation);
    void clear();
    [[nodiscard]] std::optional<CachedItem> find(const ItemKey& key) const;

  private:
    mutable std::mutex mutex_;
    std::unordered_map<std::string, CachedItem> entries_;
    uint64_t generation_ = 0;
};

}  // namespace aft::session
