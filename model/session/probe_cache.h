// Answers to probe requests, kept by request; the least recently used go first over the limit of
// bytes. Any thread; the lock is held for a look-up, never while computing. No LibTorch.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/field.h"
#include "model/requests.h"

namespace aft::session {

struct ProbeAnswer {
    FieldSetPtr fields;  // nullptr: it failed
    std::string error;
    uint64_t stamp = 0;         // of the newest snapshot when it was asked
    int64_t newest_saved = -1;  // checkpoint then: a later one may be nearer to what was asked for
};

class ProbeCache {
  public:
    explicit ProbeCache(size_t limit_bytes) : limit_(limit_bytes) {}
    void put(const ProbeRequest& request, ProbeAnswer answer);
    [[nodiscard]] std::optional<ProbeAnswer> find(const ProbeRequest& request);
    [[nodiscard]] size_t bytes() const;
    [[nodiscard]] size_t limit() const { return limit_; }

  private:
    struct CachedAnswer {
        ProbeRequest request;
        ProbeAnswer answer;
        size_t bytes = 0;
    };
    using Order = std::list<CachedAnswer>;
    [[nodiscard]] Order::iterator locate(size_t hash, const ProbeRequest& request);
    void drop(Order::iterator entry);

    mutable std::mutex mutex_;
    Order order_;  // newest use first
    std::unordered_multimap<size_t, Order::iterator> index_;
    size_t limit_, bytes_ = 0;
};

}  // namespace aft::session
