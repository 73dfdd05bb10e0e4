#include "app/panels/shared/positions.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"

namespace aft::app {

Positions::Positions(const Status& status, int64_t layer) {
    const ModelConfig& model = status.config.model;
    is_text = status.task.is_text();
    is_autoregressive = status.task.is_autoregressive;
    is_causal = status.config.model.causal();
    has_start_token = is_autoregressive && model.start_token;
    is_vectors = status.task.tokens == TokenKind::vectors;
    const bool has_values = status.task.tokens == TokenKind::values;
    if (!is_autoregressive)
        prefix_tokens =
            std::max<int64_t>(0, status.tokens - status.grid_height * status.grid_width);
    tokens = status.tokens;
    channels = has_values ? std::max<int64_t>(1, model.channels) : 1;
    height = std::max<int64_t>(1, has_values ? model.height : status.grid_height);
    width = std::max<int64_t>(1, has_values ? model.width : status.grid_width);
    if (is_text) {
        height = 1;
        width = tokens;
    }
    if (status.task.is_bias_alone) take_grid(model.maps, layer);
}

void Positions::take_grid(const MapsConfig& maps, int64_t layer) {
    const bool is_own = layer >= 0 && layer < static_cast<int64_t>(maps.layers.size());
    const MapLayer of = is_own ? maps.layers[static_cast<size_t>(layer)] : maps.longest();
    prefix_tokens = 0;
    tokens = of.tokens();
    height = of.height;
    width = of.width;
    channels = of.channels;
}

Positions::GridPosition Positions::place_of(int64_t i) const {
    const int64_t pixel = i / channels;
    if (i < 0) return {-1, i, 0};
    if (pixel >= height * width) return {};
    return {pixel / width, pixel % width, i % channels};
}

Positions::GridPosition Positions::target(int64_t t) const {
    return place_of(t - prefix_tokens);
}

Positions::GridPosition Positions::source(int64_t j) const {
    return place_of(j - sources_before(*this));
}

int64_t Positions::target_at(int64_t y, int64_t x, int64_t channel) const {
    return (y * width + x) * channels + channel + prefix_tokens;
}

int64_t Positions::source_at(int64_t y, int64_t x, int64_t channel) const {
    const int64_t j = (y * width + x) * channels + channel + sources_before(*this);
    return j < tokens ? j : -1;  // the last sub-pixel is never an input
}

std::string Positions::place_words(const GridPosition& place) const {
    if (!place.is_on_grid()) {
        if (prefix_tokens == 0) return "(start)";
        return prefix_tokens == 2 && place.x == -1 ? "(distillation)" : "(class)";
    }
    if (is_text) return fmt::format("({})", place.x);
    if (channels == 1) return fmt::format("({}, {})", place.y, place.x);
    const std::string names[] = {"R", "G", "B"};
    const std::string name = channels == 3 ? names[place.channel] : std::to_string(place.channel);
    return fmt::format("({}, {}, {})", place.y, place.x, name);
}

std::string Positions::pixel_words(const GridPosition& place) const {
    if (is_text || !place.is_on_grid()) return place_words(place);
    return fmt::format("({}, {})", place.y, place.x);
}

const char* Positions::one() const {
    return is_vectors ? "position" : is_text ? "byte" : is_autoregressive ? "pixel" : "patch";
}

const char* Positions::several() const {
    return is_vectors ? "positions" : is_text ? "bytes" : is_autoregressive ? "pixels" : "patches";
}

int64_t sources_before(const Positions& positions) {
    return positions.is_autoregressive ? 1 : positions.prefix_tokens;
}

const char* start_words(const Positions& positions, int64_t j) {
    if (positions.prefix_tokens > 0) return j == 0 ? "class token" : "distillation token";
    if (!positions.is_autoregressive) return "";
    return positions.has_start_token ? "start token" : "token 0";
}

std::string Positions::target_words(int64_t t) const {
    const std::string number = group_thousands(t);
    return is_text ? number : number + " " + place_words(target(t));
}

std::string Positions::source_words(int64_t j) const {
    const std::string number = group_thousands(j);
    return is_text && j > 0 ? number : number + " " + place_words(source(j));
}

std::string shift_words(const Positions& positions) {
    if (!positions.is_autoregressive) return "";
    const char* const one = positions.channels > 1 ? "sub-pixel" : positions.one();
    return fmt::format(
        "Source t\u2032 reads {} t\u2032 \u2212 1 and stands at its place; source 0 is {}", one,
        positions.has_start_token ? "the start token"
                                  : "token 0, as this model has no start token");
}

}  // namespace aft::app
