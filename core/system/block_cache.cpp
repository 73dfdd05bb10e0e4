#include "core/system/block_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <memory>

namespace aft {

namespace {

constexpr size_t kPage = 4096, kHugePage = size_t{2} << 20;
// Blocks begin at different cache lines of a page: tensors that a loop walks side by side would
// compete for the same lines of the cache, and loads would wait for stores 4 KiB away.
constexpr size_t kStagger = 256;
// Kept beyond the peak: small models keep blocks of all their sizes.
constexpr size_t kSpare = size_t{32} << 20;

size_t rounded(size_t bytes, size_t to) {
    return (bytes + to - 1) / to * to;
}

bool can_be_block(const void* data) {
    return reinterpret_cast<uintptr_t>(data) % kHugePage < kPage;
}

}  // namespace

BlockCache::~BlockCache() {
    trim();
}

void* BlockCache::allocate(size_t bytes) {
    if (bytes > SIZE_MAX / 2) return nullptr;  // what is added below would wrap around
    const size_t wanted = rounded(bytes, kPage) + kPage;
    std::vector<CachedBlock> given_back;
    {
        const std::scoped_lock lock(mutex_);
        CachedBlock block = take_kept(wanted);
        if (block.data != nullptr) {
            used_.emplace(block.data, block);
            use_.in_use += block.bytes;
            use_.peak = std::max(use_.peak, use_.in_use);
            return block.data;
        }
        given_back = surplus(wanted);
        use_.in_use += wanted;
    }
    // The system takes its time: other threads need not wait for it.
    unmap(given_back);
    CachedBlock block = map(wanted);
    if (block.data == nullptr) {
        give_back_kept();
        block = map(wanted);
    }
    const std::scoped_lock lock(mutex_);
    if (block.data == nullptr) {
        use_.in_use -= wanted;
        return nullptr;
    }
    ++use_.mapped;
    use_.peak = std::max(use_.peak, use_.in_use);
    used_.emplace(block.data, block);
    return block.data;
}

bool BlockCache::free(void* data) {
    if (!can_be_block(data)) return false;
    const std::scoped_lock lock(mutex_);
    const auto found = used_.find(data);
    if (found == used_.end()) return false;
    use_.in_use -= found->second.bytes;
    use_.kept += found->second.bytes;
    kept_[found->second.bytes].push_back(found->second);
    used_.erase(found);
    return true;
}

void BlockCache::trim() {
    give_back_kept();
    const std::scoped_lock lock(mutex_);
    use_.peak = use_.in_use;
}

void BlockCache::give_back_kept() {
    std::map<size_t, std::vector<CachedBlock>> sizes;
    {
        const std::scoped_lock lock(mutex_);
        sizes.swap(kept_);
        use_.kept = 0;
    }
    for (const auto& [bytes, blocks] : sizes) unmap(blocks);
}

BlockCache::Use BlockCache::use() const {
    const std::scoped_lock lock(mutex_);
    return use_;
}

void BlockCache::unmap(const std::vector<CachedBlock>& blocks) {
    for (const CachedBlock& block : blocks) static_cast<void>(munmap(block.base, block.bytes));
}

// On a boundary of a huge page: what is mapped around it goes back at once.
BlockCache::CachedBlock BlockCache::map(size_t bytes) {
    const size_t all = bytes + kHugePage;
    void* const memory =
        mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return {};
    auto* const begin = static_cast<std::byte*>(memory);
    const size_t off = reinterpret_cast<uintptr_t>(begin) % kHugePage;
    const size_t before = off == 0 ? 0 : kHugePage - off;
    std::byte* const base = begin + before;
    if (before > 0) static_cast<void>(munmap(begin, before));
    if (before < kHugePage) static_cast<void>(munmap(base + bytes, kHugePage - before));
    // Whole huge pages alone: a last one that is half used would be resident whole.
    static_cast<void>(madvise(base, bytes / kHugePage * kHugePage, MADV_HUGEPAGE));
    const auto place = reinterpret_cast<uintptr_t>(base) / kHugePage;
    return {base + place * kStagger % kPage, base, bytes};
}

// The newest of the smallest size that fits, with at most a sixteenth to spare.
BlockCache::CachedBlock BlockCache::take_kept(size_t bytes) {
    const auto found = kept_.lower_bound(bytes);
    if (found == kept_.end() || found->first > bytes + bytes / 16) return {};
    const CachedBlock block = found->second.back();
    found->second.pop_back();
    if (found->second.empty()) kept_.erase(found);
    use_.kept -= block.bytes;
    return block;
}

std::vector<BlockCache::CachedBlock> BlockCache::surplus(size_t bytes) {
    const size_t most = std::max(use_.peak, use_.in_use + bytes) + kSpare;
    const auto is_less = [](const auto& a, const auto& b) {
        return a.first * a.second.size() < b.first * b.second.size();
    };
    std::vector<CachedBlock> blocks;
    while (!kept_.empty() && use_.in_use + use_.kept + bytes > most) {
        const auto size = std::max_element(kept_.begin(), kept_.end(), is_less);
        use_.kept -= size->first;
        blocks.push_back(size->second.front());
        size->second.erase(size->second.begin());
        if (size->second.empty()) kept_.erase(size);
    }
    return blocks;
}

BlockCache& large_blocks() {
    alignas(BlockCache) static std::byte place[sizeof(BlockCache)];
    static BlockCache& cache = *std::construct_at(reinterpret_cast<BlockCache*>(place));
    return cache;
}

}  // namespace aft
