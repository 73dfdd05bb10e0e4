// What a classifier says about a picture stands in the Inspector, and is a distribution.
#include "app/panels/attention/class_guess.h"

#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

TEST(LikelyClasses, AreSortedAndHoldTheTrueOne) {
    const std::vector<float> p = {-3, -1, -2, -9, -4};
    using Order = std::vector<int64_t>;
    EXPECT_EQ(likely_classes(p, 5, -1), (Order{1, 2, 0, 4, 3}));
    EXPECT_EQ(likely_classes(p, 2, -1), (Order{1, 2}));
    EXPECT_EQ(likely_classes(p, 2, 3), (Order{1, 2, 3})) << "the true class, however unlikely";
    EXPECT_EQ(likely_classes(p, 2, 2), (Order{1, 2}));
    EXPECT_TRUE(likely_classes({}, 3, 0).empty());
}

class ClassGuessTest : public BareTest {
  protected:
    void open_classifier() {
        initialize_model("cpu", 1);
        OpenRequest request;
        request.config = tiny_config();
        ModelConfig& model = request.config->model;
        model.task = "classify";
        model.own["patch"] = 4;
        model.positions = "learned";
        request.config->data.source = "shapes?size=16";
        request.out = (scratch_ / "classify").string();
        make();
        ui().commands.send(OpenRun{std::move(request)});
        run("frames 2\nwait Ready\n");
    }
};

TEST_F(ClassGuessTest, TheInspectorShowsClassAndProbabilities) {
    open_classifier();
    run("view.workspace_attention\nframes 4\n");
    const char* const predicted = "inspector/prediction/predicted";
    ASSERT_TRUE(until([&] { return !value_of(predicted).empty(); }));
    EXPECT_NE(value_of("inspector/prediction/true_class"), "");
    double total = 0;
    int classes = 0;
    std::string best;
    for (const WidgetRecord& w : ui().recorder.last()) {
        if (!w.path.id.starts_with("inspector/prediction/class_")) continue;
        if (best.empty()) best = w.path.label.substr(w.path.label.rfind('/') + 1);
        total += std::stod(w.value);
        ++classes;
    }
    EXPECT_GE(classes, 3);
    EXPECT_NEAR(total, 100, 0.1);
    EXPECT_EQ(value_of(predicted), best) << "the most likely one stands first";
}

TEST_F(ClassGuessTest, AModelWithoutClassesSaysNothing) {
    open_mirror();
    run("view.workspace_attention\nframes 20\n");
    ASSERT_TRUE(until([&] { return is_there("inspector/selection/target"); }));
    EXPECT_FALSE(is_there("inspector/prediction/predicted"));
}

}  // namespace
}  // namespace aft::app
