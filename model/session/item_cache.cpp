#include "model/session/item_cache.h"

#include <utility>

namespace aft::session {

std::string ItemKey::text() const {
    return split + "\n" + path + "\n" + std::to_string(index);
}

uint64_t ItemCache::generation() const {
    const std::lock_guard lock(mutex_);
    return generation_;
}

void ItemCache::put(const ItemKey& key, CachedItem entry, uint64_t generation) {
    constexpr size_t kMost = 256;
    const std::lock_guard lock(mutex_);
    if (generation != generation_) return;
    if (entries_.size() > kMost) entries_.clear();
    entries_[key.text()] = std::move(entry);
}

void ItemCache::clear() {
    const std::lock_guard lock(mutex_);
    entries_.clear();
    ++generation_;
}

std::optional<ItemCache::CachedItem> ItemCache::find(const ItemKey& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key.text());
    return found == entries_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace aft::session
