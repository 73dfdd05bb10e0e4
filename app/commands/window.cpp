// afterimage window [PATH...]: what `afterimage` without a command runs.
#if AFT_WINDOW
#include <memory>

#include "app/cli/options.h"
#include "app/cli/window_api.h"
#include "app/commands/rooms.h"

namespace aft::app {
namespace {

CommandRun setup(CLI::App& command) {
    auto paths = std::make_shared<std::vector<std::string>>();
    add_texts(command, {"PATH", "checkpoint, run folder or picture", "FILE"}, *paths);
    return [paths](const Globals& globals) {
        return open_window({.paths = *paths, .run = {}}, globals);
    };
}

}  // namespace

CommandRoom window_command() {
    return {
        .info = {"window", "Opens the window: on a checkpoint, a run folder, a picture, or Home."},
        .example = "afterimage assets/demo/mirror.safetensors",
        .setup = setup,
        .draws = [](const CLI::App&) { return true; }};
}

}  // namespace aft::app
#endif
