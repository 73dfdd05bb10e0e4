// afterimage figure: pictures for publication, of stored models and runs.
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/program_json.h"
#include "app/cli/work.h"
#include "app/commands/rooms.h"
#include "app/figures/figure.h"
#include "core/check.h"
#include "core/outside.h"
#include "core/text.h"

namespace aft::app {
namespace {

struct FigureFlags {
    FigureRequest request;
    std::string layers, heads, out, theme = "light";
    std::map<std::string, std::string> named;  // options of rooms, a flag each
    std::optional<int64_t> index;
    int64_t scale = 1;
    bool json = false;
};

// "0,2,4" or "0-5,8"
std::vector<int64_t> places(const std::string& flag, const std::string& text) {
    std::vector<int64_t> out;
    if (text.empty()) return out;
    const auto number = [&](const std::string& word) {
        int64_t value = -1;
        const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (problem != std::errc() || end != word.data() + word.size() || value < 0 ||
            value > 99999)
            fail_usage("{}: found '{}', allowed: places from 0, as in 0,2,4 or 0-5", flag,
                       shown(text));
        return value;
    };
    for (const std::string& part : split(text, ',')) {
        const std::vector<std::string> ends = split(part, '-');
        const int64_t first = number(ends.front()), last = number(ends.back());
        if (ends.size() > 2 || last < first || last - first > 4096)
            fail_usage("{}: found '{}', allowed: places from 0, as in 0,2,4 or 0-5", flag,
                       shown(text));
        for (int64_t i = first; i <= last; ++i) out.push_back(i);
    }
    return out;
}

int figure(FigureFlags& flags, const Globals& globals) {
    FigureRequest& request = flags.request;
    request.index = flags.index.value_or(-1);
    request.layers = places("--layers", flags.layers);
    request.heads = places("--heads", flags.heads);
    for (const auto& [key, value] : flags.named)
        if (!value.empty()) request.options[key] = value;
    check_figure_file(flags.out);
    Work work(globals);
    request.device = work.device();
    FigureResult result = make_figure(request, work.control());
    result.scene.is_dark = flags.theme == "dark";
    write_figure(flags.out, result.scene, static_cast<int>(flags.scale));
    work.finish_progress();
    print_result(figure_json(request, flags.out, result), flags.json);
    return 0;
}

// One flag for every option of a figure; its help lists figures and values.
void add_room_options(CLI::App& command, FigureFlags& flags) {
    std::map<std::string, std::string> help;
    for (const FigureRoom& room : figures())
        for (const ProbeOption& option : room.options) {
            std::string& words = help[option.key];
            words += fmt::format("{}{}: {}", words.empty() ? "" : "; ", room.info.name,
                                 option.values.empty()
                                     ? "a number"
                                     : fmt::format("{}", fmt::join(option.values, ", ")));
        }
    for (const auto& [key, words] : help)
        add_text(command, {"--" + key, words, "VALUE"}, flags.named[key]);
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<FigureFlags>();
    FigureRequest& request = flags->request;
    add_text(command, {"NAME", "figure (afterimage list figures)", "NAME", true}, request.figure);
    add_texts(command, {"MODEL", "checkpoints or run folders", "MODEL", true}, request.models);
    add_text(command, {"--layers", "layers, as 0,2,4 or 0-5 (default: all, at most 12)", "LIST"},
             flags->layers);
    add_text(command, {"--heads", "heads or channels, as 0-3 (default: the first 16)", "LIST"},
             flags->heads);
    add_data(command, "take the inputs from a data source (default: the model's own)",
             request.data);
    add_whole(command, {"--index", "the examples from this one on, in a row, not spread"},
              flags->index);
    add_whole(command,
              {"--limit", "how many examples, spread over the part (default: as the figure needs)",
               1, 4096},
              request.limit);
    add_room_options(command, *flags);
    add_whole(command, {"--scale", "pixels of a .png for one of the figure", 1, 4}, flags->scale);
    add_choice(command, {"--theme", "ground of the figure", {"light", "dark"}}, flags->theme);
    add_text(command, {"-o,--out", "picture to write: .png or .svg", "FILE", true}, flags->out);
    add_switch(command, "--json", "print one JSON object", flags->json);
    return [flags](const Globals& globals) { return figure(*flags, globals); };
}

}  // namespace

CommandRoom figure_command() {
    return {.info = {"figure", "Draws a figure of the paper from your own models and runs."},
            .example = "afterimage figure full-biases runs/mirror -o biases.svg",
            .setup = setup};
}

}  // namespace aft::app
