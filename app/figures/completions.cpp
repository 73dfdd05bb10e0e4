// completions: masked pictures above, what the model filled in below (Zhai et al. 2021, Figure 4);
// columns pictures, one row more for each sample.
#include "app/figures/parts.h"
#include "app/state/picture_list.h"
#include "core/check.h"
#include "core/outside.h"

namespace aft::app {

FigureRoom completions_figure();

namespace {

constexpr int64_t kPictures = 8;
constexpr double kMostSamples = 8, kMostSeed = 1e9;

FigureGrid grid_of(const CompletedPictures& done, size_t samples) {
    FigureGrid grid;
    grid.rows.push_back({"masked", {}, {}});
    for (const Image& original : done.originals) {
        FigureTile tile = picture_tile(original, "");
        tile.hidden = done.hidden;
        grid.rows.back().tiles.push_back(std::move(tile));
    }
    for (size_t n = 0; n < samples; ++n) {
        grid.rows.push_back({samples == 1 ? "completed" : fmt::format("sample {}", n + 1), {}, {}});
        for (const std::vector<Image>& of_picture : done.samples)
            grid.rows.back().tiles.push_back(picture_tile(of_picture[n], ""));
    }
    grid.rows.push_back({"original", {}, {}});
    for (const Image& original : done.originals)
        grid.rows.back().tiles.push_back(picture_tile(original, ""));
    return grid;
}

std::string why_not(const FigureSubject& subject) {
    if (subject.task.is_autoregressive && !subject.task.is_text()) return "";
    return "it completes no pictures; models that predict the values of a picture one by one can "
           "show it";
}

FigureResult make(const FigureRequest& request, const JobControl& control) {
    const ModelFacts facts = model_facts(request.models.front());
    check_can_show(completions_figure(), facts);
    PictureCompletions asked{.model = facts.path,
                             .data = figure_data(request, facts),
                             .device = request.device,
                             .index = request.index,
                             .count = request.limit > 0 ? request.limit : kPictures,
                             .sample = {},
                             .pictures = {}};
    if (const auto list = request.options.find("pictures"); list != request.options.end()) {
        asked.pictures = parse_picture_list(list->second);
        asked.count = static_cast<int64_t>(asked.pictures.size());
    }
    if (asked.count > 24)
        fail_usage("figure completions: found {} pictures, allowed: 1 to 24", asked.count);
    asked.keep_rows = figure_number_option(
        request, "keep-rows", {0, static_cast<double>(facts.height - 1)}, facts.height / 2);
    asked.sample.samples = figure_number_option(request, "samples", {1, kMostSamples}, 1);
    asked.sample.seed =
        static_cast<uint64_t>(figure_number_option(request, "seed", {0, kMostSeed}, 1));
    const CompletedPictures done = complete_pictures(asked, control);
    FigureResult out;
    out.scene.title = "Completions";
    out.scene.notes = {model_words(facts),
                       fmt::format("{}; the upper {} of {} rows are given; temperature 1, seed {}",
                                   printable_line(done.input_note), asked.keep_rows, facts.height,
                                   asked.sample.seed)};
    out.scene.parts.emplace_back(grid_of(done, static_cast<size_t>(asked.sample.samples)));
    return out;
}

}  // namespace

FigureRoom completions_figure() {
    return {.info = {"completions", "masked pictures and what the model fills in (Fig. 4)"},
            .example = "afterimage figure completions runs/mirror --limit 8 -o completions.png",
            .options = {{"keep-rows", {}, ""},
                        {"samples", {}, ""},
                        {"seed", {}, ""},
                        {"pictures", {}, ""}},
            .takes_example = true,
            .why_not = why_not,
            .make = make};
}

}  // namespace aft::app
