#include "app/panels/shared/layer_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace aft::app {
namespace {

constexpr std::string_view kSeparators = "./:";

// Bytes that the names have in common, in whole parts between separators.
struct CommonEnds {
    size_t before = 0, behind = 0;
};

CommonEnds common_ends(const std::vector<MapLayer>& layers) {
    if (layers.size() < 2) return {};
    const std::string_view first = layers[0].name;
    CommonEnds out{first.size(), first.size()};
    size_t shortest = first.size();
    for (const MapLayer& layer : layers) {
        const std::string_view name = layer.name;
        shortest = std::min(shortest, name.size());
        out.before = std::min(out.before, name.size());
        out.behind = std::min(out.behind, name.size());
        const auto begin =
            std::mismatch(first.begin(), first.begin() + ptrdiff_t(out.before), name.begin());
        out.before = size_t(begin.first - first.begin());
        const auto end =
            std::mismatch(first.rbegin(), first.rbegin() + ptrdiff_t(out.behind), name.rbegin());
        out.behind = size_t(end.first - first.rbegin());
    }
    const auto is_separator = [](char c) { return kSeparators.find(c) != std::string_view::npos; };
    while (out.before > 0 && !is_separator(first[out.before - 1])) --out.before;
    while (out.behind > 0 && !is_separator(first[first.size() - out.behind])) --out.behind;
    if (out.before + out.behind >= shortest) out.behind = 0;
    return out.before < shortest ? out : CommonEnds{};
}

// Ends of UTF-8 characters are kept whole.
std::string cut_in_the_middle(std::string_view name) {
    constexpr size_t kMost = 18, kEach = 8;
    if (name.size() <= kMost) return std::string(name);
    const auto is_inside = [&](size_t i) {
        return (static_cast<unsigned char>(name[i]) & 0xC0) == 0x80;
    };
    size_t head = kEach, tail = name.size() - kEach;
    while (head > 0 && is_inside(head)) --head;
    while (tail < name.size() && is_inside(tail)) ++tail;
    while (head > 1 && kSeparators.find(name[head - 1]) != std::string_view::npos) --head;
    while (tail + 1 < name.size() && kSeparators.find(name[tail]) != std::string_view::npos) ++tail;
    return fmt::format("{}\u2026{}", name.substr(0, head), name.substr(tail));
}

// "" where it says no more than the number.
std::string own_name(const Status& status, int64_t layer) {
    const std::vector<MapLayer>& maps = status.config.model.maps.layers;
    if (layer < 0 || layer >= static_cast<int64_t>(maps.size())) return "";
    const std::string& name = maps[static_cast<size_t>(layer)].name;
    return name == fmt::format("layer {}", layer) ? "" : name;
}

std::string short_name(const Status& status, int64_t layer, const CommonEnds& ends) {
    const std::string name = own_name(status, layer);
    if (name.empty()) return "";
    const std::string_view rest =
        std::string_view(name).substr(ends.before, name.size() - ends.before - ends.behind);
    return rest == std::to_string(layer) ? "" : cut_in_the_middle(rest);
}

std::string words_of(int64_t layer, const std::string& name) {
    return name.empty() ? std::to_string(layer) : fmt::format("{}, {}", layer, name);
}

}  // namespace

bool has_layer_names(const Status& status) {
    const CommonEnds ends = common_ends(status.config.model.maps.layers);
    const auto count = static_cast<int64_t>(status.config.model.maps.layers.size());
    for (int64_t layer = 0; layer < count; ++layer)
        if (!short_name(status, layer, ends).empty()) return true;
    return false;
}

std::string layer_words(const Status& status, int64_t layer) {
    const CommonEnds ends = common_ends(status.config.model.maps.layers);
    return words_of(layer, short_name(status, layer, ends));
}

std::string full_layer_words(const Status& status, int64_t layer) {
    return words_of(layer, own_name(status, layer));
}

}  // namespace aft::app
