// Watch: follows one probe request from frame to frame: asks only when needed, keeps the old answer
// until the new one is there, and refreshes live pictures at a bounded pace. Window thread; returns
// at once.
#pragma once
#include <optional>
#include <string>

#include "app/state/ui.h"

namespace aft::app {

// The worker has one waiting place per probe and layer, and the newest request takes it. Watches
// that share a place take turns: in one frame only the first that has no answer yet asks. The
// caller sets it back to {} once a frame; a watch alone at its place takes a new one each time.
struct AskTurn {
    bool taken = false;
};

class Watch {
  public:
    // True when the answer is another one than before. `hold_s`: while training runs, how long a
    // live answer is kept before the next one is asked for.
    bool update(const PaneContext& ui, const ProbeRequest& request, AskTurn& turn,
                double hold_s = 0.5);
    // Only says what will be asked for: is_current() answers for it.
    void want(const ProbeRequest& request) { wanted_ = request; }
    void clear();
    // Ends what is being computed for it, and asks no more until this is taken back or another
    // request comes.
    void set_cancelled(const PaneContext& ui, bool is_cancelled);

    [[nodiscard]] const FieldSetPtr& fields() const { return fields_; }  // null: none yet
    [[nodiscard]] bool is_current() const { return fields_ && shown_ == wanted_; }
    [[nodiscard]] bool is_pending() const { return pending_; }
    [[nodiscard]] bool is_cancelled() const { return cancelled_ == wanted_; }
    [[nodiscard]] const std::string& error() const { return error_; }
    [[nodiscard]] const ProbeRequest& shown() const { return shown_; }  // what fields() answers

  private:
    FieldSetPtr fields_;
    ProbeRequest shown_, wanted_;
    std::optional<ProbeRequest> cancelled_;
    std::string error_;
    bool pending_ = false;
    double hold_until_ = -1;
};

// Ends what is being computed for it; the next update() asks again.
void drop_request(Watch& watch, const PaneContext& ui);

}  // namespace aft::app
