// Compare: slots whose biases are those after interventions, of the Lab or of a file; what cannot
// be read says so everywhere.
#include <cmath>

#include "app/panels/compare/compare_slots.h"
#include "app/panels/shared/bias_values.h"
#include "core/text.h"
#include "model/jobs/recipe.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

constexpr const char* kChangedLine = "compare/main/hover_line";

class ChangedSlots : public BareTest {
  protected:
    void SetUp() override {
        open_trained_run();
        path_ = ui().status.path;
        halved_.interventions = {{.name = "scale", .layer = 1, .options = {{"factor", "0.5"}}}};
        run("view.workspace_compare\nframes 4\n");
        ui().selection.quantity = Quantity::w;
        ui().selection.gauge = Gauge::raw;
    }
    bool has_map(int place) {
        return !value_of("compare/main/map_" + std::to_string(place)).empty();
    }
    // w of the stored model after the recipe, read without the window.
    float stored(const Recipe& recipe, int64_t target, int64_t source) {
        const BiasForm form(ui().status);
        ProbeRequest request = layer_request(form, Gauge::raw, 1);
        request.recipe = recipe;
        return reader_.ask(path_, request, {})
            .fields.at(0)
            .values.at(size_t(target * form.columns + source));
    }
    // The line below the maps has both values of the locked cell.
    bool shows(float a, float b) {
        const std::string wanted =
            "A " + shown_value(Quantity::w, a) + "  B " + shown_value(Quantity::w, b);
        return value_of(kChangedLine).find(wanted) != std::string::npos;
    }

    std::string path_;
    Recipe halved_;
    StoredBiases reader_;
};

TEST_F(ChangedSlots, ShowWhatTheLabShows) {
    EXPECT_NE(ui().actions.why_not(ui(), "compare.with_lab").find("The Lab has no intervention"),
              std::string::npos);
    ui().selection.lab.recipe = halved_;
    run("compare.with_lab\nframes 4\n");
    ASSERT_EQ(ui().selection.compare.slots.size(), 2U);
    ui().selection.lock({.layer = 1, .target = 40, .source = 7});
    const float w = stored({}, 40, 7), half = stored(halved_, 40, 7);
    ASSERT_NE(w, 0);
    EXPECT_FLOAT_EQ(half, w / 2);
    EXPECT_TRUE(until([&] { return shows(w, half); })) << w << " | " << value_of(kChangedLine);
    EXPECT_NE(value_of("compare/main/slot_b").find("after scale"), std::string::npos);
    // The tables follow: all that differs lies in the layer that is changed.
    EXPECT_TRUE(until([&] {
        return is_there("compare/main/changes:change_0") &&
               value_of("compare/main/progress").empty();
    }));
    run("click compare/main/changes:change_0\nframes 3\n");
    EXPECT_EQ(ui().selection.cell.layer, 1);
    ui().selection.lab.recipe = {};
    steps(5);
    EXPECT_EQ(ui().selection.compare.slots[1].recipe, halved_) << "the slot keeps its own";
}

TEST_F(ChangedSlots, TakeARecipeFromAFile) {
    const std::string file = scratch_ / "halved.json";
    write_recipe(file, halved_, "");
    ui().selection.compare.slots = {{}, {.path = path_, .step = ui().history.back()}};
    steps(4);
    run("click compare/main/interventions_b\nframes 3\nset compare/main/recipe_file " +
        scratch_.path().string() +
        "/none.json\nframes 2\nclick compare/main/use_recipe\nframes 3\n");
    EXPECT_NE(value_of("compare/main/recipe_problem").find("none.json"), std::string::npos)
        << dump(ui());
    run("set compare/main/recipe_file " + file +
        "\nframes 2\nclick compare/main/use_recipe\nframes 3\n");
    EXPECT_EQ(ui().selection.compare.slots[1].recipe, halved_);
    EXPECT_NE(value_of("compare/main/slot_b").find("after halved"), std::string::npos)
        << value_of("compare/main/slot_b");
    ui().selection.lock({.layer = 1, .target = 40, .source = 7});
    EXPECT_TRUE(until([&] { return shows(stored({}, 40, 7), stored(halved_, 40, 7)); }))
        << value_of(kChangedLine);
    run("click compare/main/interventions_b\nframes 3\nclick compare/main/untouched\nframes 3\n");
    EXPECT_TRUE(ui().selection.compare.slots[1].recipe.interventions.empty());
}

TEST_F(ChangedSlots, WhatCannotBeReadIsSaidEverywhere) {
    ui().selection.compare.slots = {{}, {.path = (scratch_ / "nothing").string()}};
    const std::string words = "B cannot be read: ";
    EXPECT_TRUE(until([&] {
        return value_of("compare/main/progress").find(words) != std::string::npos;
    })) << value_of("compare/main/progress");
    for (const char* part : {"changes", "layers", "heads"}) {
        run(std::string("set compare/main/below ") + part + "\nframes 3\n");
        EXPECT_TRUE(until([&] { return dump(ui()).find("Reading") == std::string::npos; }))
            << part << dump(ui());
    }
    const WidgetRecord* const step = ui().recorder.find("compare/main/step_b");
    ASSERT_NE(step, nullptr);
    EXPECT_NE(step->why_not.find("no longer there"), std::string::npos) << step->why_not;
}

}  // namespace
}  // namespace aft::app
