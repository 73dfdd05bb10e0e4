#include "app/commands/rooms.h"

namespace aft::app {

CommandRoom train_command();
CommandRoom eval_command();
CommandRoom complete_command();
CommandRoom inspect_command();
CommandRoom probe_command();
CommandRoom op_command();
CommandRoom run_command();
CommandRoom export_command();
CommandRoom list_command();
CommandRoom demo_command();

const std::vector<CommandRoom>& commands() {
    static const std::vector<CommandRoom> rooms = {
        demo_command(),  train_command(), eval_command(), complete_command(), inspect_command(),
        probe_command(), op_command(),    run_command(),  export_command(),   list_command(),
    };
    return rooms;
}

}  // namespace aft::app
