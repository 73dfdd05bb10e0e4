// afterimage demo: the main job with nothing given. Trains, then writes what the model learned.
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/program_json.h"
#include "app/cli/results_json.h"
#include "app/cli/work.h"
#include "app/commands/rooms.h"
#include "core/check.h"
#include "core/environment.h"
#include "core/files.h"
#include "core/text.h"
#include "model/jobs/complete.h"
#include "model/jobs/probe.h"
#include "model/jobs/train.h"
#if AFT_WINDOW
#include "app/cli/window_api.h"
#endif

namespace aft::app {
namespace {

struct DemoFlags {
    std::string out;
    bool no_window = false, json = false;
};

bool can_open_window() {
    return AFT_WINDOW && has_display();
}

// runs/demo-mirror-1, -2, ...: the first that is not there.
std::string fresh_folder() {
    for (int64_t i = 1;; ++i) {
        std::string path = fmt::format("runs/demo-mirror-{}", i);
        if (!fs::exists(path)) return path;
    }
}

TrainResult train(const std::string& out, Work& work) {
    TrainRequest request;
    request.config = load_preset("demo-mirror");
    request.out = out;
    request.device = work.device();
    print_note("training demo-mirror: pictures whose lower half mirrors the upper half");
    TrainResult result = train_job(request, work.control());
    work.finish_progress();
    return result;
}

ProbeJob probe_of(const std::string& run, const WrittenPicture& picture, const std::string& name) {
    ProbeJob job;
    job.probe = name;
    job.model = run;
    job.out = picture.file;
    return job;
}

std::vector<WrittenPicture> write_maps(const std::string& run, const std::string& folder,
                                       Work& work) {
    const Config config = load_preset("demo-mirror");
    const std::string data = config.data.source + "&split=test";
    std::vector<WrittenPicture> pictures;
    for (int64_t layer = 0; layer < config.model.layers; ++layer) {
        pictures.push_back({fmt::format("{}/bias-layer-{}.png", folder, layer),
                            fmt::format("exp(w)-1 of layer {}: targets down, sources across; the "
                                        "anti-diagonal is the mirror",
                                        layer)});
        ProbeJob bias = probe_of(run, pictures.back(), "bias");
        bias.layer = layer;
        bias.options = {{"quantity", "exp-1"}, {"gauge", "fixed"}};  // as the window shows it
        bias.device = work.device();
        write_result_file(probe_job(bias, work.control()));
    }
    // A target in the lower half, a third from the left.
    const int64_t target =
        (config.model.height * 5 / 8) * config.model.width + config.model.width / 3;
    pictures.push_back(
        {folder + "/attention.png",
         fmt::format("what target {} attends to in layer 0, one map a channel", target)});
    ProbeJob attention = probe_of(run, pictures.back(), "attention");
    attention.data = data;
    attention.position = target;
    attention.device = work.device();
    write_result_file(probe_job(attention, work.control()));
    work.finish_progress();
    return pictures;
}

WrittenPicture write_completions(const std::string& run, const std::string& folder, Work& work) {
    const Config config = load_preset("demo-mirror");
    CompleteRequest request;
    request.model = run;
    request.data = config.data.source + "&split=test";
    request.keep_rows = config.model.height / 2;
    request.out = folder + "/completions";
    request.device = work.device();
    write_result_file(complete_job(request, work.control()));
    work.finish_progress();
    return {request.out + "/grid.png", "lower halves sampled from an unseen upper half"};
}

#if AFT_WINDOW
// The window trains; what it left in the run folder is what is shown afterwards.
int train_in_window(const std::string& out, const Globals& globals) {
    OpenRequest run;
    run.config = load_preset("demo-mirror");
    run.out = out;
    run.device = globals.device;
    run.autostart = true;
    return open_window({.paths = {}, .run = run}, globals);
}
#endif

void print_places(const std::string& run, const std::vector<WrittenPicture>& pictures, bool json) {
    if (json) {
        print_json(demo_json(run, pictures));
        return;
    }
    std::string words = "\n";
    for (const WrittenPicture& picture : pictures) {
        words += fmt::format("{}\n    {}\n", picture.file, picture.shows);
    }
    words +=
        fmt::format("{}/checkpoints\n    the model; 'afterimage {}' opens the run\n", run, run);
    print_result(words);
}

int demo(const DemoFlags& flags, const Globals& globals) {
    const std::string run = flags.out.empty() ? fresh_folder() : flags.out;
    const bool in_window = can_open_window() && !flags.no_window && !flags.json;
#if AFT_WINDOW
    if (in_window) {
        if (const int code = train_in_window(run, globals); code != 0) return code;
    }
#endif
    Work work(globals);
    if (!in_window) {
        const TrainResult result = train(run, work);
        if (result.interrupted) {
            print_note(fmt::format("stopped at step {}; 'afterimage train --resume {}' resumes",
                                   result.step, result.run));
            return 130;
        }
    } else if (!fs::exists(run)) {
        return 0;  // closed before the first step was saved
    }
    const std::string folder = run + "/pictures";
    make_folder(folder);
    std::vector<WrittenPicture> pictures = write_maps(run, folder, work);
    pictures.push_back(write_completions(run, folder, work));
    print_places(run, pictures, flags.json);
    return 0;
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<DemoFlags>();
    add_text(command, {"-o,--out", "run folder (default: runs/demo-mirror-N)", "DIR"}, flags->out);
    add_switch(command, "--no-window", "train here even if there is a display", flags->no_window);
    add_switch(command, "--json", "print one JSON object; no window", flags->json);
    return [flags](const Globals& globals) { return demo(*flags, globals); };
}

}  // namespace

CommandRoom demo_command() {
    return {
        .info = {"demo", "Trains the mirror demo and writes its biases, attention, completions."},
        .example = "afterimage demo --out runs/first",
        .setup = setup,
        .draws = [](const CLI::App& command) {
            return can_open_window() && !is_given(command, "--no-window") &&
                   !is_given(command, "--json");
        }};
}

}  // namespace aft::app
