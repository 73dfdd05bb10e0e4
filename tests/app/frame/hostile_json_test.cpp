// Files that anybody may hand to the window, with every value in turn replaced by what does not
// belong there: each is refused in a short sentence that begins with the file, or read; nothing
// else.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/state/sweep_table.h"
#include "app/state/user_settings.h"
#include "app/state/view_file.h"
#include "core/caught.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

using nlohmann::json;

const std::vector<json>& hostile_values() {
    static const std::vector<json> values = [] {
        json deep = 1;
        for (int i = 0; i < 60; ++i) deep = json::array({std::move(deep)});
        return std::vector<json>{nullptr,
                                 true,
                                 -1e300,
                                 1e300,
                                 uint64_t{1} << 63,
                                 "\u001b[31m\u0007",
                                 std::string(5000, 'x'),
                                 json::array(),
                                 json::object(),
                                 json::object({{"\u001b", "\u001b"}}),
                                 std::move(deep)};
    }();
    return values;
}

// Each place of `whole` with each of these values.
void each_hostile(const json& whole,
                  const std::function<void(const json&, const std::string&)>& take) {
    const json flat = whole.flatten();
    for (const auto& [place, unused] : flat.items()) {
        json::json_pointer at(place);
        for (; !at.empty(); at = at.parent_pointer())
            for (const json& value : hostile_values()) {
                json bad = whole;
                bad[at] = value;
                take(bad, at.to_string() + " = " + value.dump().substr(0, 60));
            }
    }
}

class HostileJson : public BareTest {
  protected:
    // Refused in a sentence, or "".
    std::string refusal(const std::string& what, const std::function<void()>& read) {
        const std::string words = error_words(read);
        EXPECT_EQ(words.find("json.exception"), std::string::npos) << what << ": " << words;
        if (words.empty()) return words;
        EXPECT_EQ(words.find(file_), 0U) << what << ": " << words;
        EXPECT_LT(words.size(), 700U) << what << ": " << words;
        for (const char c : words)
            if (static_cast<unsigned char>(c) < 32) ADD_FAILURE() << what << ": " << words;
        return words;
    }
    std::string file_ = (scratch_ / "bad.json").string();
};

TEST_F(HostileJson, OfAView) {
    make();
    SavedView view = view_of(ui());
    view.model = "run";
    view.place.pins = {{.cell = {.layer = 1}, .step = 3, .words = "L1", .note = "here"}};
    view.place.locked = Cell{.layer = 1};
    view.place.mask = {.height = 2, .width = 2, .values = {0, 1, 1, 0}};
    view.place.overlays = {"other"};
    view.place.step_notes = {{5, "a note"}};
    view.place.experiments.recipes = {{.name = "a", .recipe = {}, .split = "test"}};
    view.lab.recipe.interventions.emplace_back();
    view.lab.recipe.interventions.front().name = "zero";
    view.completion.pictures = {0, 1, 2, 12};
    view.panes = {"atlas"};
    const json whole = json::parse(view_text(view));
    size_t refused = 0, all = 0;
    each_hostile(whole, [&](const json& bad, const std::string& what) {
        put(file_, bad.dump());
        const std::string words = refusal(what, [&] { (void)read_view_file(file_); });
        refused += words.empty() ? 0 : 1;
        ++all;
    });
    EXPECT_GT(refused, all / 2);
}

// A damaged file is put aside whole, or what of it cannot be read is left out: both are said.
TEST_F(HostileJson, OfTheSettings) {
    file_ = (scratch_ / "window.json").string();
    UserSettings settings;
    settings.layouts["mine"] = {"text", 1};
    settings.recent.push_back({.path = "/r", .name = "r", .what = "w", .opened = 1});
    settings.keys["file.open"] = "Ctrl+O";
    settings.data_locations["mnist"] = "/d";
    settings.notes["/r"] = {.name = "n", .tag = "t", .note = "o"};
    settings.notes["/r"].pins = {{.cell = {.layer = 1}, .step = 3, .words = "L1", .note = "here"}};
    settings.notes["/r"].experiments.recipes = {{.name = "a", .recipe = {}, .split = "test"}};
    save_user_settings(file_, settings);
    const json whole = json::parse(read_file(file_));
    const std::string aside = file_ + ".damaged";
    size_t wholly = 0, partly = 0, read = 0;
    each_hostile(whole, [&](const json& bad, const std::string& what) {
        std::filesystem::remove(aside);
        put(file_, bad.dump());
        std::string problem;
        const bool is_read = read_user_settings(file_, problem).has_value();
        (is_read ? problem.empty() ? read : partly : wholly) += 1;
        EXPECT_EQ(problem.empty(), !std::filesystem::exists(aside)) << what << ": " << problem;
        EXPECT_EQ(std::filesystem::exists(file_), is_read) << what << ": " << problem;
        if (problem.empty()) return;
        EXPECT_EQ(read_file(aside), bad.dump()) << what << ": " << problem;
        EXPECT_NE(problem.find("Kept as window.json.damaged."), std::string::npos) << problem;
        EXPECT_EQ(problem.find("json.exception"), std::string::npos) << what << ": " << problem;
        EXPECT_EQ(problem.find('\033'), std::string::npos) << what << ": " << problem;
        EXPECT_LT(problem.size(), 700U) << what << ": " << problem;
    });
    EXPECT_GT(read, 0U);
    EXPECT_GT(partly, 0U);
    EXPECT_GT(wholly, 0U);
}

TEST_F(HostileJson, OfASweep) {
    file_ = (scratch_ / "table.json").string();
    const json whole = json::parse(R"({"name": "a", "sentence": "b", "paper": "c", "metric": "loss",
        "split": "test", "points": [{"name": "p", "settings": {"train.steps": "9", "x": 1}, "runs": 1,
        "mean": 1, "deviation": 0, "least": 1, "most": 1, "paper": "1"}, {"name": "q", "settings": {}}],
        "runs": [{"point": "p", "seed": 1, "folder": "f", "state": "done", "loss": 2}]})");
    each_hostile(whole, [&](const json& bad, const std::string& what) {
        put(file_, bad.dump());
        (void)refusal(what, [&] { (void)read_sweep_table(scratch_.path().string()); });
    });
}

}  // namespace
}  // namespace aft::app
