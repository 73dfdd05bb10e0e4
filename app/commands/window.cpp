// afterimage window [PATH...]: what `afterimage` without a command runs.
#if AFT_WINDOW
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/ranks.h"
#include "app/cli/window_api.h"
#include "app/commands/rooms.h"

namespace aft::app {
namespace {

struct WindowFlags {
    std::vector<std::string> paths;
    RankFlags ranks;
};

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<WindowFlags>();
    add_texts(command, {"PATH", "checkpoint, run or sweep folder, picture or view", "FILE"},
              flags->paths);
    add_rank_flags(command, flags->ranks);
    return [flags](const Globals& globals) {
        const Ranks ranks(flags->ranks, globals, {{"window", true}});
        if (!ranks.leads()) return follow_training(ranks);
        return open_window({.paths = flags->paths, .run = {}, .ranks = ranks.group()},
                           ranks.globals());
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
