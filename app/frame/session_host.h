// SessionHost: the one session of the window, and those that end in the background: opening,
// closing, what is new each frame, and what could not be saved. Window thread; a session that ends
// has a thread of its own for as long as it takes.
#pragma once
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/frame/retiring.h"
#include "app/frame/unsaved_steps.h"
#include "app/state/open_path.h"
#include "app/state/ui.h"
#include "app/state/view_file.h"

namespace aft::app {

// Where sessions compute.
struct SessionPlace {
    std::string device = "cpu";
    RankGroup* ranks = nullptr;  // with whom; none: alone
};

class SessionHost {
  public:
    SessionHost(Ui& ui, SessionPlace place, std::function<void()> wake);

    void replace(OpenRequest request);  // the open one ends in the background
    void close();
    void apply(SessionCommand command);                // nothing where none is open
    void open(const std::vector<std::string>& paths);  // checkpoints, run folders, pictures
    void poll();                                       // status, curves, completion of this frame
    // Of `ui`: errors, messages, rewinds; and of sessions that have ended since, what is unsaved.
    void note_changes();
    void load_image();
    // Blocks. What the open session could not save, if so.
    [[nodiscard]] std::optional<UnsavedSteps> save();
    // Blocks until all have ended. What could not be saved and was not reported.
    [[nodiscard]] std::vector<UnsavedSteps> end();

    [[nodiscard]] Session* session() { return open_.session.get(); }

  private:
    void retire();
    void report_unsaved();
    void note_end();  // of training that stopped by itself: at which step, and why
    std::vector<UnsavedSteps> take_unsaved();  // of sessions that have ended, which are dropped
    void open_one(const std::string& path, Opening opening);
    void open_view(const std::string& path);
    void look_for_awaited();
    void set_beside(const std::vector<std::string>& paths);  // compares them with what is open
    void remember_open();
    void keep_place();  // of the open run: pins and locked cell, into the user's settings
    void restore_place();

    struct ShownMessages {  // what was shown of the open session already
        std::string message, error, path, missing_data;
        std::string kept_as;  // the path, as the user's settings name it
        std::vector<std::string> not_finite;
        int64_t rewinds = 0;
        bool was_following = false, was_gone = false;
        RunState state = RunState::empty;
        bool is_stop_asked = false;  // by the user, since training was begun last
    };
    Ui& ui_;
    SessionPlace place_;
    std::function<void()> wake_;
    OpenSession open_;
    std::list<RetiringSession> retiring_;
    ShownMessages shown_;
    std::optional<SavedView> view_;  // to be shown when its model is open
    std::string awaited_;            // a folder in which a run has not begun
};

}  // namespace aft::app
