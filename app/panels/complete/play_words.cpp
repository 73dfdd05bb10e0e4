#include "app/panels/complete/play_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/panels/shared/completion_readings.h"
#include "app/panels/shared/positions.h"
#include "core/text.h"

namespace aft::app {

// Of a text model: what its token stands for.
uint8_t level_byte(const ModelView& ui, int64_t level) {
    const auto& alphabet = ui.status.alphabet;
    const auto at = static_cast<size_t>(level);
    return alphabet.empty()       ? static_cast<uint8_t>(level)
           : at < alphabet.size() ? alphabet[at]
                                  : uint8_t{0};
}

// Under its bar: "17", "a", "0xC3".
std::string axis_words(const ModelView& ui, int64_t level) {
    if (!is_text_model(ui)) return std::to_string(level);
    const uint8_t byte = level_byte(ui, level);
    if (byte == '\n') return "\\n";
    if (byte == ' ') return "' '";
    return byte > 32 && byte < 127 ? std::string(1, static_cast<char>(byte))
                                   : fmt::format("0x{:02X}", byte);
}

std::string level_words(const ModelView& ui, int64_t level) {
    if (!is_text_model(ui)) return std::to_string(level);
    const uint8_t byte = level_byte(ui, level);
    if (byte == '\n') return "line end";
    if (byte == ' ') return "blank";
    return byte > 32 && byte < 127 ? fmt::format("'{}'", static_cast<char>(byte))
                                   : fmt::format("0x{:02X}", byte);
}

// Its section's id: "byte_12", "y_3_x_4_g".
std::string place_id(const ModelView& ui, int64_t position) {
    if (is_text_model(ui)) return fmt::format("byte_{}", position);
    const Positions::GridPosition place = Positions(ui.status).target(position);
    const char* names[] = {"_r", "_g", "_b"};
    return fmt::format("y_{}_x_{}{}", place.y, place.x,
                       ui.status.config.model.channels == 3 ? names[place.channel] : "");
}

std::string place_words(const ModelView& ui, int64_t position) {
    if (is_text_model(ui)) return fmt::format("byte {}", group_thousands(position));
    const Positions::GridPosition place = Positions(ui.status).target(position);
    const int64_t channels = ui.status.config.model.channels;
    const char* names[] = {", R", ", G", ", B"};
    return fmt::format("y {}, x {}{}", place.y, place.x, channels == 3 ? names[place.channel] : "");
}

namespace {

// None: that one was of another picture or mask, or this one still fills in.
std::optional<int64_t> changed_values(const Completion* before, const Completion& now,
                                      size_t sample) {
    if (before == nullptr || !now.done || now.stopped || before->unknown != now.unknown)
        return std::nullopt;
    if (sample >= before->samples.size() || sample >= now.samples.size()) return std::nullopt;
    const std::vector<uint8_t>&old = before->samples[sample], &drawn = now.samples[sample];
    if (old.size() != drawn.size()) return std::nullopt;
    int64_t count = 0;
    for (size_t i = 0; i < old.size(); ++i) {
        if (now.unknown[i] == 0 && old[i] != drawn[i]) return std::nullopt;  // another picture
        count += old[i] != drawn[i] ? 1 : 0;
    }
    return count;
}

}  // namespace

std::string changed_words(const Completion* before, const Completion& now, size_t sample) {
    const std::optional<int64_t> changed = changed_values(before, now, sample);
    if (!changed) return "";
    return fmt::format("{} of {} values", *changed,
                       std::count(now.unknown.begin(), now.unknown.end(), uint8_t{1}));
}

}  // namespace aft::app
