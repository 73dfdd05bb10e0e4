// Commands: what a panel or an action asks the frame to do, as one queue of typed values. The frame
// takes them before it draws the next frame. Window thread.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/session.h"

namespace aft::app {

struct OpenPath {  // a checkpoint, a run folder or a picture
    std::string path;
};
struct OpenRun {  // a new run
    OpenRequest request;
};
struct CloseModel {};  // nothing is open then
struct BrowseFiles {
    bool for_data = false;  // to say where the data of the open model lie
};
struct ShowPane {  // brings it to the front
    std::string id;
};
struct RewindTo {  // a saved step of the open run; all views go live
    int64_t step = 0;
};

using Command = std::variant<OpenPath, OpenRun, CloseModel, BrowseFiles, ShowPane, RewindTo>;

class Commands {
  public:
    void send(Command command) { queue_.push_back(std::move(command)); }
    [[nodiscard]] std::vector<Command> take() { return std::exchange(queue_, {}); }
    // The end of the program is the host's business: it asks after every frame.
    void quit() { is_quitting_ = true; }
    void stay() { is_quitting_ = false; }
    [[nodiscard]] bool is_quitting() const { return is_quitting_; }

  private:
    std::vector<Command> queue_;
    bool is_quitting_ = false;
};

}  // namespace aft::app
