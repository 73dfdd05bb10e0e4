#include "app/panels/shared/watch.h"

#include <utility>

namespace aft::app {

void Watch::clear() {
    *this = Watch();
}

void Watch::set_cancelled(const PaneContext& ui, bool is_cancelled) {
    cancelled_.reset();
    if (!is_cancelled) return;
    if (ui.session != nullptr) ui.session->probes().cancel(wanted_);
    cancelled_ = wanted_;
    pending_ = false;
}

void drop_request(Watch& watch, const PaneContext& ui) {
    watch.set_cancelled(ui, true);
    watch.set_cancelled(ui, false);
}

bool Watch::update(const PaneContext& ui, const ProbeRequest& request, AskTurn& turn,
                   double hold_s) {
    wanted_ = request;
    if (ui.session == nullptr || is_cancelled()) return false;
    cancelled_.reset();
    const bool is_running = ui.status.state == RunState::running && request.step < 0;
    if (is_current() && is_running && ui.time < hold_until_) return false;
    if (turn.taken) {
        pending_ = !is_current();
        return false;
    }
    std::string error;
    FieldSetPtr answer = ui.session->probes().ask(request, false, &error);
    pending_ = answer == nullptr && error.empty();
    if (pending_) {
        turn.taken = true;
        // Another step of the same request may lie in the cache: better than another picture. And
        // where training publishes faster than the worker answers, the newest is never there: what
        // was answered last is shown, or the picture would stand still.
        answer = ui.session->probes().ask(request, true, nullptr);
        if (is_running && answer != nullptr && answer != fields_) pending_ = false;
    }
    error_ = error;
    if (answer == nullptr || (answer == fields_ && shown_ == request)) return false;
    fields_ = std::move(answer);
    shown_ = request;
    hold_until_ = ui.time + hold_s;
    return true;
}

}  // namespace aft::app
