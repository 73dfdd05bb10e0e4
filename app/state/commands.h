// Commands: what a panel or an action asks for, as one queue of typed values. Nothing below the
// frame changes the session, the workspace or the shown step in another way. The frame applies
// them before it draws the next frame. Window thread.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "app/state/due_picture.h"
#include "app/state/workspace.h"
#include "model/requests.h"

namespace aft::app {

struct OpenPath {  // a checkpoint, a run folder, a picture or a saved view
    std::string path;
};
struct OpenRun {  // a new run
    OpenRequest request;
};
struct CloseModel {};  // nothing is open then
struct BrowseFiles {
    bool for_data = false;   // to say where the data of the open model lie
    std::string question{};  // or what a form asks for, in words: answers PaneContext::file_chosen
};
struct ShowPane {  // brings it to the front
    std::string id;
};
struct ShowWorkspace {
    Workspace workspace = Workspace::home;
};
struct ShowStep {  // in all views; -1 = live
    int64_t step = -1;
};
struct TakePicture {  // of the panes in the middle, when no card covers them any more
    PictureRequest request;
};
struct Quit {};  // the host ends the program, after it has asked what would be lost

// To the open session; without one they do nothing.
struct StartTraining {};  // until the target step
struct PauseTraining {};
struct TrainSteps {  // then pauses
    int64_t count = 1;
};
struct TrainUntil {
    int64_t step = 0;
};
struct StopTraining {};  // saves and ends
struct SaveCheckpoint {};
struct SaveCopy {  // a checkpoint outside the run
    std::string path;
    int64_t ticket = 0;  // Status::copy answers with it
};
struct KeepCheckpoint {  // for good
    int64_t step = 0;
};
struct RewindTo {  // a saved step of the open run; all views go live
    int64_t step = 0;
};
struct SetSetting {  // a row of Config
    std::string key, value;
};
struct SetTrainerShare {  // of the time, 0.1 .. 1
    double share = 1;
};
// The workspace or pane that asks. Its id is then CompletionChoice::own_id, that of the batch, or
// the owner's in ModelView.
enum class CompletionOwner { complete, batch, train, lab, watched };
struct StartCompletion {
    CompletionOwner owner = CompletionOwner::complete;
    CompletionRequest request;
};
struct StopCompletion {};

using SessionCommand =
    std::variant<StartTraining, PauseTraining, TrainSteps, TrainUntil, StopTraining, SaveCheckpoint,
                 SaveCopy, KeepCheckpoint, RewindTo, SetSetting, SetTrainerShare, StartCompletion,
                 StopCompletion>;
using Command = std::variant<OpenPath, OpenRun, CloseModel, BrowseFiles, ShowPane, ShowWorkspace,
                             ShowStep, TakePicture, Quit, SessionCommand>;

class Commands {
  public:
    void send(Command command) { queue_.push_back(std::move(command)); }
    // All but Quit, which stays until the host ends the program or says stay().
    [[nodiscard]] std::vector<Command> take();
    [[nodiscard]] bool is_quitting() const;
    [[nodiscard]] bool has_waiting() const;  // of those that take() returns
    void stay();

  private:
    std::vector<Command> queue_;
};

}  // namespace aft::app
