// Classifiers in Attention: the class token as the target.
#include "app/panels/shared/target_token.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class ClassTokenTest : public BareTest {
  protected:
    // A small classifier with a class token, after a few steps, in Attention.
    void open() {
        initialize_model("cpu", 1);
        OpenRequest request;
        request.config = load_preset("demo-shapes");
        Config& config = *request.config;
        config.model.mixer = "softmax";
        config.model.layers = 1;
        config.model.dim = 16;
        config.model.positions = "learned";
        config.model.own["class_token"] = true;
        config.train.batch = 4;
        config.train.steps = 1000;
        request.out = (scratch_ / "shapes").string();
        make();
        ui().commands.send(OpenRun{std::move(request)});
        run("frames 2\nwait Ready 60\n");
        session().run().step(2);
        ASSERT_TRUE(until([&] { return ui().status.state == RunState::paused; }));
        run("view.workspace_attention\nframes 4\n");
        ASSERT_TRUE(until([&] { return is_there("attention/main/both"); }));
    }
    const char* const distance_ = "inspector/prior_or_content/mean_distance";
};

TEST_F(ClassTokenTest, IsChosenAsTheTarget) {
    open();
    ASSERT_TRUE(is_there("attention/main/target_token"));
    EXPECT_EQ(value_of("attention/main/target_token"), "Patch");
    ASSERT_TRUE(until([&] { return is_there(distance_); }));
    EXPECT_EQ(value_of(distance_).find("none"), std::string::npos);
    run("click attention/main/target_token=class_token\nframes 4\n");
    EXPECT_EQ(ui().selection.cell.target, 0);
    EXPECT_TRUE(ui().selection.locked) << "the pointer over the picture must not undo it";
    EXPECT_EQ(value_of("attention/main/target_token"), "Class token");
    EXPECT_TRUE(until([&] { return value_of("attention/main/both") == "0 (class)"; }));
    EXPECT_TRUE(until([&] { return value_of(distance_).starts_with("none"); }))
        << value_of(distance_);
    run("click attention/main/target_token=patch\nframes 4\n");
    EXPECT_GE(ui().selection.cell.target, 1);
}

TEST_F(ClassTokenTest, IsNotCalledAPatch) {
    open();
    const Positions positions(ui().status);
    EXPECT_EQ(target_noun(positions, 0), "class token");
    EXPECT_EQ(target_noun(positions, 1), "patch");
}

}  // namespace
}  // namespace aft::app
