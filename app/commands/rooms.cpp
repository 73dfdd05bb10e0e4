#include "app/commands/rooms.h"

namespace aft::app {

CommandRoom demo_command();
CommandRoom train_command();
CommandRoom eval_command();
CommandRoom complete_command();
CommandRoom inspect_command();
CommandRoom probe_command();
CommandRoom compare_command();
CommandRoom figure_command();
CommandRoom op_command();
CommandRoom run_command();
CommandRoom import_command();
CommandRoom export_command();
CommandRoom metrics_command();
CommandRoom data_command();
CommandRoom sweep_command();
CommandRoom bench_command();
CommandRoom list_command();
#if AFT_WINDOW
CommandRoom window_command();
CommandRoom shot_command();
CommandRoom script_command();
#endif

const std::vector<CommandRoom>& commands() {
    static const std::vector<CommandRoom> rooms = {
        demo_command(),    train_command(), eval_command(),    complete_command(),
        inspect_command(), probe_command(), compare_command(), figure_command(),
        op_command(),      run_command(),   import_command(),  export_command(),
        metrics_command(), data_command(),  sweep_command(),   bench_command(),
        list_command(),
#if AFT_WINDOW
        window_command(),  shot_command(),  script_command(),
#endif
    };
    return rooms;
}

}  // namespace aft::app
