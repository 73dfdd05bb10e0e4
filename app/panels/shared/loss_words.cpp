#include "app/panels/shared/loss_words.h"

#include <numbers>

namespace aft::app {

double shown_loss(const ViewState& ui, double nats) {
    return ui.status.task.loss_in_bits ? nats / std::numbers::ln2 : nats;
}

std::string loss_unit(const ViewState& ui) {
    return ui.status.task.loss_in_bits ? ui.status.metric_words : "nats";
}

}  // namespace aft::app
