#include "model/session/publisher.h"

#include <algorithm>
#include <utility>

namespace aft::session {

namespace {

constexpr double kShare = 0.02;           // the most that publishing may cost
constexpr double kWeightsEvery_ms = 250;  // maps do not need to move faster
constexpr double kCurvesEvery_ms = 100, kStatusEvery_ms = 30;

double ms_between(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
}

}  // namespace

bool Publisher::is_due(const PublishRate& rate, double every_ms) const {
    const double wait = std::max(every_ms, rate.cost_ms / kShare);
    return ms_between(rate.last, now_()) >= wait;
}

template <class Work>
void Publisher::timed(PublishRate& rate, int64_t step, const Work& work) {
    const auto start = now_();
    work();
    rate.last = now_();
    // One that another program held up does not count in full, or the next would come much later.
    rate.took_ms = ms_between(start, rate.last);
    constexpr double kFloor_ms = 1;
    const double before = std::max(rate.cost_ms, kFloor_ms);
    rate.cost_ms = rate.step >= 0 ? std::min(rate.took_ms, 2 * before) : rate.took_ms;
    rate.step = step;
}

void Publisher::publish_status(const Status& status, bool at_once) {
    if (at_once) status_rate_ = {};
    if (status.state == RunState::running && !is_due(status_rate_, kStatusEvery_ms)) return;
    timed(status_rate_, status.step,
          [&] { channels_.status.publish(std::make_shared<const Status>(status)); });
    channels_.wake();
}

void Publisher::publish_curves(const RunView& view, bool at_once) {
    const auto latest = channels_.curves.latest();
    if (latest && latest->version == view.curves.version) return;
    if (!at_once && !is_due(curves_rate_, kCurvesEvery_ms)) return;
    timed(curves_rate_, view.status.step,
          [&] { channels_.curves.publish(std::make_shared<const Curves>(view.curves)); });
    channels_.wake();
}

void Publisher::publish_weights(const Trainer& trainer) {
    const int64_t step = trainer.steps_done();
    if (step == weights_rate_.step) return;
    timed(weights_rate_, step, [&] {
        publish_checkpoint(
            std::make_shared<const Checkpoint>(trainer.checkpoint(/*with_optimizer=*/false)));
    });
}

void Publisher::publish_weights_when_due(const Trainer& trainer) {
    const int64_t done = trainer.steps_done() - weights_rate_.step;
    if (done >= trainer.config().train.publish_every && is_due(weights_rate_, kWeightsEvery_ms))
        publish_weights(trainer);
}

void Publisher::publish_checkpoint(std::shared_ptr<const Checkpoint> checkpoint, bool biases_only) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->step = checkpoint->step;
    snapshot->checkpoint = std::move(checkpoint);
    snapshot->stamp = ++stamp_;
    snapshot->biases_only = biases_only;
    channels_.snapshot.publish(std::move(snapshot));
    channels_.wake();
}

void Publisher::publish_stored_steps(StoredSteps stored) {
    stored.valid_since = valid_since_;
    channels_.stored_steps.publish(std::make_shared<const StoredSteps>(std::move(stored)));
}

void Publisher::drop_answers() {
    valid_since_ = stamp_ + 1;
}

}  // namespace aft::session
