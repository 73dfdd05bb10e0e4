#include "tests/app/frame/more_nudges.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>

#include "app/state/overlay_choice.h"
#include "app/state/step_notes.h"
#include "app/state/ui.h"
#include "model/jobs/train.h"
#include "tests/app/fed.h"

namespace aft::app {
namespace {

// Of a sweep with two points, whose runs are not there; its folder.
std::string small_sweep() {
    const auto folder = std::filesystem::current_path() / "sweep";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "table.json")
        << R"({"metric": "loss", "points": [{"name": "a", "settings": {"w": "1"}, "mean": 1},
               {"name": "b", "settings": {"w": "2"}, "mean": 2}],
               "runs": [{"point": "a", "seed": 1, "folder": "gone", "state": "done", "loss": 1},
               {"point": "b", "seed": 1, "folder": "gone", "state": "done", "loss": 2}]})";
    return folder.string();
}

// The page of a sweep, which is shown at once.
Nudges sweep_nudges(const std::function<Ui&()>& ui, const ClickId& click) {
    const auto show_sweep = [ui, folder = small_sweep()] {
        ui().workspace = Workspace::home;
        ui().settings.zoom = 1;
        ui().selection.sweep.folder = folder;
    };
    show_sweep();
    return {{"home/main/", [ui] { ui().selection.sweep = {}; }},
            {"home/main/close_sweep", show_sweep},
            {"home/points/", show_sweep},
            {"home/plot/", show_sweep},
            {"home/runs/", [show_sweep, click] {
                 show_sweep();
                 click("home/points/points:a");
             }}};
}

// What a pane offers where its picture cannot be read.
Nudges unread_picture_nudges(const std::function<Ui&()>& ui, const ClickId& wait) {
    Nudges nudges;
    for (const std::string pane : {"attention", "relative", "trace", "keys", "source"})
        for (const std::string action : {"file.reread_sample", "file.open"}) {
            const std::string id = pane + "/main/" + action;
            nudges.push_back({id, [ui, wait, id] {
                                  ImageChoice& image = ui().selection.image;
                                  image = {.split = image.split,
                                           .index = -1,
                                           .path = "/no/such/picture.png",
                                           .item = {}};
                                  wait(id);
                              }});
        }
    return nudges;
}

// A batch of pictures, to be shown as one picture and back.
Nudges batch_nudges(const std::function<Ui&()>& ui, const ClickId& click) {
    return {{"samples/main/complete.batch",
             [ui, click] {
                 ui().workspace = Workspace::complete;
                 Selection& selection = ui().selection;
                 selection.image = {
                     .split = selection.image.split, .index = 0, .path = {}, .item = {}};
                 selection.completion.pictures = {0, 1};
                 selection.completion.sample = {};
                 ui().actions.run(ui(), "mask.all");
                 click("samples/main/complete.start");
             }},
            // Of several examples of the data, where no file or completion stands in their place.
            {"source/main/pictures", [ui] {
                 ui().workspace = Workspace::complete;
                 ImageChoice& image = ui().selection.image;
                 image = {.split = image.split, .index = 0, .path = {}, .item = {}};
             }}};
}

// Cards and menus of Train.
Nudges train_nudges(const std::function<Ui&()>& ui, const ClickId& click) {
    const auto with_card = [ui](const char* action) {
        return [ui, action] {
            ui().workspace = Workspace::train;
            ui().settings.zoom = 1;
            if (ui().step_notes.empty()) set_step_note(ui(), 3, "a note");
            if (ui().overlays.empty()) toggle_overlay(ui(), "/no/such/run");
            if (ui().actions.why_not(ui(), action).empty()) ui().actions.run(ui(), action);
        };
    };
    Nudges nudges{{"run/run/remove_until",
                   [ui] {
                       ui().workspace = Workspace::train;
                       ui().settings.zoom = 1;
                       ui().commands.send(SetSetting{"train.until_minutes", "1000000"});
                   }},
                  // The handle lies over the pin of the step that is shown.
                  {"timeline/track/pin_save",
                   [ui] {
                       if (!ui().history.empty())
                           ui().commands.send(ShowStep{ui().history.front()});
                   }},
                  {"note_card/", with_card("note.add")},
                  {"metrics_card/", with_card("file.export_metrics")},
                  {"copy_card/", with_card("run.save_copy")},
                  {"layout_card/answer/", with_card("view.layouts")},
                  {"layout_card/layouts/",
                   [ui, show = with_card("view.layouts")] {
                       ui().settings.layouts["kept"].scale = 1;
                       show();
                   }},
                  {"film_card/main/to",
                   [show = with_card("file.save_film"), click] {
                       show();
                       click("film_card/main/what=scrub");
                   }},
                  {"view_card/main/file.export_metrics", with_card("file.save_view")},
                  {"timeline/track/", with_card("view.side_panes")},
                  {"curves/scale/", with_card("train.overlay_runs")},
                  {"curves/menu/", with_card("train.overlay_runs")}};
    for (const std::string name : {"step", "loss", "validation", "minutes"})
        nudges.push_back({"run/run_until/" + name, [ui, click, name] {
                              ui().workspace = Workspace::train;
                              ui().settings.zoom = 1;
                              click("run/run/until");
                              click("run/run_until/condition=by_" + name);
                          }});
    return nudges;
}

// A model of several heads, as luck rarely trains one; its path.
std::string model_with_heads() {
    TrainRequest request;
    request.config = small_run();
    request.config.model.dim = 8;
    request.config.train.steps = 1;
    request.config.model.mixer = "aft-conv1d";
    request.config.model.own["heads"] = 4;
    request.config.model.own["window"] = 3;
    request.out = (std::filesystem::current_path() / "heads").string();
    return train_job(request, {}).checkpoint;
}

// Settings that some tasks and mixers alone read.
Nudges preset_nudges(const std::function<Ui&()>& ui, const ClickId& wait) {
    const auto open_form = [ui, wait] {
        ui().workspace = Workspace::home;
        ui().settings.zoom = 1;
        ui().selection.sweep = {};
        if (ui().actions.why_not(ui(), "file.new_run").empty())
            ui().actions.run(ui(), "file.new_run");
        wait("home/new_run/preset");
    };
    Nudges nudges{{"home/settings/", open_form}, {"home/new_run/", open_form}};
    for (const auto& [key, preset] : {std::pair{"train.label_smoothing", "demo-shapes"},
                                      {"model.stride", "cifar10-strided-24x256"},
                                      {"model.block_height", "cifar10-local2d-12x512"},
                                      {"model.block_width", "cifar10-local2d-12x512"},
                                      {"model.features", "enwik8-performer-12x512"},
                                      {"model.buckets", "enwik8-reformer-12x512"},
                                      {"model.rounds", "enwik8-reformer-12x512"},
                                      {"model.key_depth", "imagenet-lambda-tiny"}}) {
        const std::string id = std::string("home/settings/") + key;
        nudges.push_back({id, [ui, wait, open_form, id, name = std::string(preset)] {
                              open_form();
                              ui().recorder.scripted.request("home/new_run/preset", name);
                              wait(id);
                          }});
    }
    return nudges;
}

// What Compare offers for a model of several heads, in each of its slots.
Nudges compare_nudges(const std::function<Ui&()>& ui) {
    const auto fill = [ui, path = model_with_heads()] {
        ui().workspace = Workspace::compare;
        ui().settings.zoom = 1;
        CompareChoice& compare = ui().selection.compare;
        compare.slots.clear();
        while (compare.slots.size() < CompareChoice::kMostSlots) (void)compare.add({.path = path});
    };
    // Maps and tables take turns.
    const auto low = [ui, fill] {
        fill();
        ui().settings.zoom = 2;
    };
    return {{"compare/main/below=maps", low},
            {"compare/main/head_", fill},
            {"compare/main/step_", fill},
            {"compare/", fill}};
}

std::vector<std::string> all_mixers() {
    Config config = tiny_config();
    for (const Setting& row : config.rows())
        if (row.key == "model.mixer") return row.choices;
    return {};
}

}  // namespace

Nudges more_nudges(const std::function<Ui&()>& ui, const ClickId& wait, const ClickId& press) {
    const ClickId click = [wait, press](const std::string& id) {
        wait(id);
        press(id);
    };
    Nudges nudges{{"home/main/no_tour",
                   [ui] {
                       ui().workspace = Workspace::home;
                       ui().selection.sweep = {};
                       ui().settings.tour_done = false;
                   }},
                  {"relative/main/all_maps",
                   [ui, wait] {
                       ui().workspace = Workspace::attention;
                       ui().settings.zoom = 1;
                       ui().selection.step = -1;
                       ui().selection.image = {};
                       ui().selection.relative_examples = 1;
                       ui().commands.send(ShowPane{"relative"});
                       wait("relative/main/all_maps");
                   }},
                  {"compare/main/what_the_lab_shows", [ui] {
                       auto& changes = ui().selection.lab.recipe.interventions;
                       changes.clear();
                       changes.emplace_back().name = "zero";
                       ui().selection.compare.slots.clear();
                       ui().actions.run(ui(), "compare.add_slot");
                   }}};
    for (const Nudges& more :
         {sweep_nudges(ui, click), unread_picture_nudges(ui, wait), batch_nudges(ui, click),
          train_nudges(ui, click), preset_nudges(ui, wait), compare_nudges(ui)})
        nudges.insert(nudges.end(), more.begin(), more.end());
    return nudges;
}

Nudges setting_nudges(const std::function<void(const Config&)>& open) {
    const std::set<std::string> known = unread_settings(tiny_config());
    std::set<std::string> given;
    Nudges nudges;
    std::vector<Config> configs;
    for (const std::string& mixer : all_mixers())
        for (const int64_t factors : {4, 0}) {
            Config& config = configs.emplace_back(tiny_config());
            config.model.mixer = mixer;
            config.model.own["factors"] = factors;
        }
    for (Config& config : configs) {
        for (const char* size : {"stride", "block_height", "block_width", "key_depth", "window"})
            config.model.own[size] = 2;
        try {
            config.check();
        } catch (const Error&) {
            continue;  // not for pictures that are completed
        }
        const std::set<std::string> unread = unread_settings(config);
        for (const std::string& key : known)
            if (!unread.contains(key) && given.insert(key).second)
                nudges.push_back({"controls/model/" + key, [open, config] { open(config); }});
    }
    return nudges;
}

}  // namespace aft::app
