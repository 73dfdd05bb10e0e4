// The form of a new run: it does not start while a field is red, and knows where data lie.
#include "app/state/data_locations.h"
#include "tests/app/stage_fixture.h"
#include "tests/app/ui_driver.h"

namespace aft::app {
namespace {

namespace fs = std::filesystem;

class NewRunTest : public BareTest {
  protected:
    void open() {
        initialize_model("cpu", 1);
        make();
        run("file.new_run\nframes 3\n");
        ASSERT_TRUE(until([&] { return why_not_start().empty(); })) << why_not_start();
    }
    std::string why_not_start() {
        const WidgetRecord* const start = ui().recorder.find("home/before_the_start/start_run");
        return start == nullptr ? "it is not there" : start->why_not;
    }
    static ImVec2 middle_of(const WidgetRecord& w) {
        return {(w.min.x + w.max.x) / 2, (w.min.y + w.max.y) / 2};
    }
};

TEST_F(NewRunTest, DoesNotStartWhileAFieldIsRed) {
    open();
    UiDriver driver(stage_, 1);
    run("set home/settings/filter checkpoint_every\nframes 3\n");
    const WidgetRecord field = driver.find("home/settings/train.checkpoint_every");
    ASSERT_EQ(field.kind, "field");
    driver.press(field, middle_of(field), 2);
    ASSERT_TRUE(ui().edit.typing);
    driver.type("many");
    driver.key("Enter");
    driver.step(2);
    ASSERT_NE(ui().edit.error, "");
    EXPECT_NE(why_not_start().find("Checkpoint every: "), std::string::npos) << why_not_start();
    EXPECT_NE(why_not_start().find("found"), std::string::npos) << why_not_start();
    // Hidden, it forbids nothing.
    run("set home/settings/filter clip\nframes 3\n");
    EXPECT_TRUE(until([&] { return why_not_start().empty(); })) << why_not_start();
}

TEST_F(NewRunTest, TakesTheDataFromWhereTheyWereFoundBefore) {
    UserSettings settings;
    const std::string there = scratch_ / "there";
    const std::string source = "cifar10:" + (scratch_ / "gone").string() + "?size=16";
    EXPECT_EQ(data_as_remembered(settings, source), source);
    fs::create_directories(there);
    EXPECT_EQ(remember_data_location(settings, source, there), "cifar10:" + there + "?size=16");
    EXPECT_EQ(data_as_remembered(settings, source), "cifar10:" + there + "?size=16");
    EXPECT_EQ(data_as_remembered(settings, "mirror?size=8"), "mirror?size=8");
    // Another place for the same data keeps the model's own words as the key.
    const std::string other = scratch_ / "other";
    fs::create_directories(other);
    (void)remember_data_location(settings, "cifar10:" + there, other);
    EXPECT_EQ(settings.data_locations.size(), 1U);
    EXPECT_EQ(data_as_remembered(settings, source), "cifar10:" + other + "?size=16");
    fs::remove_all(other);
    EXPECT_EQ(data_as_remembered(settings, source), source) << "it is no longer there";
}

TEST_F(NewRunTest, DrawsTheLearningRateThatIsComing) {
    open();
    const char* const curve = "home/learning_rate/schedule";
    EXPECT_TRUE(value_of(curve).starts_with("peak ")) << value_of(curve);
    run("set home/settings/train.schedule constant\nset home/settings/train.warmup 0\n"
        "set home/settings/train.learning_rate 0.25\nset home/settings/train.steps 70\nframes 3\n");
    EXPECT_EQ(value_of(curve), "0.25 up to step 70");
}

TEST_F(NewRunTest, HasAButtonForTheDataFolder) {
    open();
    const char* const button = "home/new_run/choose_data";
    ASSERT_TRUE(is_there(button));
    EXPECT_NE(ui().recorder.find(button)->why_not, "") << "the demo makes its data itself";
    const std::string folder = scratch_ / "pictures";
    fs::create_directories(folder);
    run("set home/new_run/data images:/no/where\nframes 3\n");
    run(std::string("click ") + button + "\nframes 4\n");
    ASSERT_TRUE(is_there("file_browser/where/path"));
    run("set file_browser/where/path " + folder + "\nframes 3\n");
    run("click file_browser/answer/accept\nframes 4\n");
    EXPECT_FALSE(is_there("file_browser/where/path"));
    EXPECT_EQ(value_of("home/new_run/data"), "images:" + folder);
    EXPECT_EQ(ui().settings.data_locations.at("/no/where"), folder);
}

}  // namespace
}  // namespace aft::app
