// afterimage shot: pictures of the window, drawn without a display.
#if AFT_WINDOW
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/program_json.h"
#include "app/commands/rooms.h"
#include "app/frame/layouts.h"
#include "app/host/shots.h"
#include "core/check.h"
#include "core/files.h"
#include "model/system.h"

namespace aft::app {
namespace {

constexpr int64_t kMostSide = 8192;  // OpenGL draws nothing larger everywhere

struct ShotFlags {
    std::vector<std::string> names;
    std::string open, size, out;
    double scale = 0;
    bool all = false, json = false;
};

std::vector<WrittenPicture> pictures_of(const std::vector<ShotFile>& written) {
    std::vector<WrittenPicture> pictures;
    for (const ShotFile& file : written)
        pictures.push_back({.file = file.path, .width = file.width, .height = file.height});
    return pictures;
}

int shoot(const ShotFlags& flags, const Globals& globals) {
    if (flags.all == !flags.names.empty())
        fail_usage("shot: needs workspaces or --all, found {}", flags.all ? "both" : "neither");
    initialize_model(globals.device, globals.threads);
    ShotRequest request{.names = flags.names, .open = flags.open, .out = flags.out};
    request.device = globals.device;
    request.scale = flags.scale;
    if (!flags.size.empty()) {
        const auto [width, height] = parse_grid("--size", flags.size);
        if (width < kLeastWidth || height < kLeastHeight || std::max(width, height) > kMostSide)
            fail_usage("--size: found {}, allowed: {}x{} to {}x{}", flags.size, kLeastWidth,
                       kLeastHeight, kMostSide, kMostSide);
        request.width = static_cast<int>(width);
        request.height = static_cast<int>(height);
    }
    const std::vector<ShotFile> written = shoot_window(request, print_note);
    if (flags.json) {
        print_json(shots_json(pictures_of(written)));
    } else {
        for (const ShotFile& file : written) print_result(file.path + "\n");
    }
    return 0;
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<ShotFlags>();
    add_texts(command, {"WORKSPACE", "Home, Train, Biases, ...; or a name of --all", "NAME"},
              flags->names);
    add_switch(command, "--all", "every workspace and state", flags->all);
    add_text(command, {"--open", "checkpoint or run folder to show", "PATH"}, flags->open);
    add_text(command, {"--size", "in pixels (1600x1000)", "WxH"}, flags->size);
    add_real(command, {"--scale", "of the interface (1)", 0.5, 4}, flags->scale);
    add_text(command, {"-o,--out", "folder to write to", "DIR", true}, flags->out);
    add_switch(command, "--json", "print one JSON object: the files and their sizes", flags->json);
    return [flags](const Globals& globals) { return shoot(*flags, globals); };
}

}  // namespace

CommandRoom shot_command() {
    return {.info = {"shot", "Draws the window into pictures, without a display."},
            .example = "afterimage shot Biases --open assets/demo/mirror.safetensors -o pictures",
            .setup = setup,
            .draws = [](const CLI::App&) { return true; }};
}

}  // namespace aft::app
#endif
