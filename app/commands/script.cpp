// afterimage script FILE: named actions, in the window or without a display.
#if AFT_WINDOW
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/interrupts.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/commands/rooms.h"
#include "app/host/headless_run.h"
#include "app/host/window.h"
#include "core/files.h"
#include "model/system.h"

namespace aft::app {
namespace {

struct ScriptFlags {
    std::string file, size = "1600x1000";
    double scale = 1;
    bool headless = false, json = false;
};

void print_run(const ScriptFlags& flags, const ScriptRun& run) {
    if (!flags.json) return;
    print_json({{"file", flags.file}, {"lines", run.lines}, {"frames", run.frames}});
}

int in_window(const ScriptFlags& flags, const std::string& text, const Globals& globals) {
    const Interrupts interrupts;
    initialize_model(globals.device, globals.threads);
    const auto [width, height] = parse_grid("--size", flags.size);
    Window* shown = nullptr;
    int64_t frames = 0;
    Script script(text, flags.file, {.shot = [&shown](const std::filesystem::path& path) {
                      write_png(path, shown->picture());
                  }});
    Window window({.device = globals.device,
                   .width = static_cast<int>(width),
                   .height = static_cast<int>(height),
                   .stop = interrupts.token(),
                   .before_frame =
                       [&script, &frames](Frame& frame) {
                           if (!script.has_ended()) ++frames;
                           return script.advance(frame);
                       },
                   .remember = false});
    shown = &window;
    window.run();
    fail_if_unsaved(window.frame().end_sessions());
    print_run(flags, {.lines = script.lines_done(), .frames = frames});
    return interrupts.token().stop_requested() ? 130 : 0;
}

int without_display(const ScriptFlags& flags, const std::string& text, const Globals& globals) {
    const Interrupts interrupts;
    initialize_model(globals.device, globals.threads);
    const auto [width, height] = parse_grid("--size", flags.size);
    FrameOptions options;
    options.device = globals.device;
    options.display_scale = static_cast<float>(flags.scale);
    HeadlessStage stage(std::move(options), static_cast<int>(width), static_cast<int>(height));
    stage.step();
    const ScriptRun done = run_script(stage, text, flags.file);
    fail_if_unsaved(stage.frame().end_sessions());
    print_run(flags, done);
    return 0;
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<ScriptFlags>();
    add_text(command, {"FILE", "script, one action a line", "FILE", true}, flags->file);
    add_switch(command, "--headless", "draw without a display", flags->headless);
    add_text(command, {"--size", "of the window in pixels", "WxH"}, flags->size);
    add_real(command, {"--scale", "of the interface (with --headless)", 0.5, 4}, flags->scale);
    add_switch(command, "--json", "print one JSON object: what was run", flags->json);
    return [flags](const Globals& globals) {
        const std::string text = read_file(flags->file, uint64_t{1} << 24);
        return flags->headless ? without_display(*flags, text, globals)
                               : in_window(*flags, text, globals);
    };
}

}  // namespace

CommandRoom script_command() {
    return {
        .info = {"script", "Runs named actions of the window, one a line, for tests and demos."},
        .example = "afterimage script tour.txt --headless",
        .setup = setup,
        .draws = [](const CLI::App&) { return true; }};
}

}  // namespace aft::app
#endif
