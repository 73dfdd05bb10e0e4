#include "app/panels/shared/loss_words.h"

#include <fmt/format.h>

#include <numbers>

namespace aft::app {

std::string recipe_line(const Intervention& one) {
    std::string words = (one.on ? "" : "# ") + one.name;
    if (one.layer >= 0) words += fmt::format(" layer={}", one.layer);
    if (one.head >= 0) words += fmt::format(" head={}", one.head);
    for (const auto& [key, value] : one.options) words += fmt::format(" {}={}", key, value);
    if (one.strength != 1) words += fmt::format(" x{:.2f}", one.strength);
    return words;
}

double shown_loss(const ViewState& ui, double nats) {
    return ui.status.task.loss_in_bits ? nats / std::numbers::ln2 : nats;
}

std::string loss_unit(const ViewState& ui) {
    return ui.status.task.loss_in_bits ? ui.status.metric_words : "nats";
}

}  // namespace aft::app
