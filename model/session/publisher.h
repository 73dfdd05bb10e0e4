// Publisher: hands status, curves, stored steps and weights to the window through the mailboxes. It
// measures what each publication costs and spends at most 2 % of the time on them. Trainer thread.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "model/session/channels.h"
#include "model/session/run_view.h"

namespace aft::session {

class Publisher {
  public:
    explicit Publisher(SessionChannels& channels,
                       std::function<Clock::time_point()> now = Clock::now)
        : channels_(channels), now_(std::move(now)) {}

    void publish_status(const Status& status, bool at_once = false);
    void publish_curves(const RunView& view, bool at_once);
    // The trainer's weights, unless this step is published already; then nothing happens.
    void publish_weights(const Trainer& trainer);
    // The same where the pace allows it.
    void publish_weights_when_due(const Trainer& trainer);
    void publish_checkpoint(std::shared_ptr<const Checkpoint> checkpoint, bool biases_only = false);
    void publish_stored_steps(StoredSteps stored);
    // Answers so far no longer hold: files were replaced, or steps will come a second time.
    void drop_answers();
    // The next publish_weights() publishes, whatever the step.
    void forget_published_step() { weights_rate_.step = -1; }
    [[nodiscard]] double weights_ms() const { return weights_rate_.took_ms; }  // the last time

  private:
    struct PublishRate {
        double took_ms = 0;  // the last publication
        double cost_ms = 0;  // what it counts as
        Clock::time_point last{};
        int64_t step = -1;  // last published step
    };
    [[nodiscard]] bool is_due(const PublishRate& rate, double every_ms) const;
    template <class Work>
    void timed(PublishRate& rate, int64_t step, const Work& work);

    SessionChannels& channels_;
    std::function<Clock::time_point()> now_;
    PublishRate weights_rate_, curves_rate_, status_rate_;
    uint64_t stamp_ = 0;        // of the newest snapshot
    uint64_t valid_since_ = 0;  // StoredSteps::valid_since
};

}  // namespace aft::session
