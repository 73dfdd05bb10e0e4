#include "model/session/probe_cache.h"

#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

namespace aft::session {

namespace {

size_t mix(size_t seed, size_t value) {
    return seed ^ (value + 0x9E3779B97F4A7C15ULL + (seed << 6) + (seed >> 2));
}

size_t hash_of(const ProbeRequest& request) {
    const std::hash<std::string_view> text;
    size_t h = text(request.probe);
    for (const int64_t n :
         {request.step, request.layer, request.head, request.channel, request.position})
        h = mix(h, std::hash<int64_t>()(n));
    for (const auto& [key, value] : request.options) h = mix(mix(h, text(key)), text(value));
    for (const int64_t label : request.labels) h = mix(h, std::hash<int64_t>()(label));
    for (const Intervention& one : request.recipe.interventions)
        h = mix(mix(h, text(one.name)), std::hash<double>()(one.strength));
    const std::string_view tokens(reinterpret_cast<const char*>(request.tokens.data()),
                                  request.tokens.size());
    return mix(h, text(tokens));
}

size_t bytes_of(const ProbeRequest& request, const ProbeAnswer& answer) {
    size_t bytes = 256 + request.tokens.size();
    if (!answer.fields) return bytes;
    for (const Field& field : answer.fields->fields)
        bytes += 256 + field.values.size() * sizeof(float);
    return bytes;
}

}  // namespace

ProbeCache::Order::iterator ProbeCache::locate(size_t hash, const ProbeRequest& request) {
    const auto [first, last] = index_.equal_range(hash);
    for (auto i = first; i != last; ++i)
        if (i->second->request == request) return i->second;
    return order_.end();
}

void ProbeCache::drop(Order::iterator entry) {
    const auto [first, last] = index_.equal_range(hash_of(entry->request));
    for (auto i = first; i != last; ++i) {
        if (i->second != entry) continue;
        index_.erase(i);
        break;
    }
    bytes_ -= entry->bytes;
    order_.erase(entry);
}

void ProbeCache::put(const ProbeRequest& request, ProbeAnswer answer) {
    const size_t hash = hash_of(request);
    const std::lock_guard lock(mutex_);
    const auto old = locate(hash, request);
    if (old != order_.end()) drop(old);
    const size_t bytes = bytes_of(request, answer);
    order_.push_front({request, std::move(answer), bytes});
    index_.emplace(hash, order_.begin());
    bytes_ += bytes;
    while (bytes_ > limit_ && order_.size() > 1) drop(std::prev(order_.end()));
}

std::optional<ProbeAnswer> ProbeCache::find(const ProbeRequest& request) {
    const size_t hash = hash_of(request);
    const std::lock_guard lock(mutex_);
    const auto entry = locate(hash, request);
    if (entry == order_.end()) return std::nullopt;
    order_.splice(order_.begin(), order_, entry);
    return entry->answer;
}

size_t ProbeCache::bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
}

}  // namespace aft::session
