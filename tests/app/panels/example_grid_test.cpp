// Data by their pictures: the grid of the sample popup, and that of a new run before there is one.
#include "app/panels/shared/example_grid.h"

#include "app/panels/home/data_browser.h"
#include "model/config.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

namespace fs = std::filesystem;

TEST(ExampleWords, NameIndexAndClass) {
    const ExampleForm form = {.class_names = {"disc", "box"}};
    DataItem item{.tokens = {}, .label = 1, .split = {}, .caption = {}};
    EXPECT_EQ(example_words(form, item, 60), "60 box");
    item.label = 2;
    EXPECT_EQ(example_words(form, item, 60), "60 class 2");
    item.label = -1;
    EXPECT_EQ(example_words(form, item, 60), "60");
    EXPECT_EQ(page_first(47), 0);
    EXPECT_EQ(page_first(48), 48);
}

class ExampleGridTest : public BareTest {
  protected:
    bool is_read(const std::string& id) {
        return until(
            [&] { return is_there(id) && value_of(id).find("loading") == std::string::npos; });
    }
    void press_key(ImGuiKey key) {
        ImGui::GetIO().AddKeyEvent(key, true);
        steps(1);
        ImGui::GetIO().AddKeyEvent(key, false);
        steps(3);
    }
};

TEST_F(ExampleGridTest, TakesAnExampleByItsPicture) {
    open_mirror();
    run("view.workspace_attention\nframes 3\n");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    run("click \"attention/main/choose_sample\"\nframes 3\n");
    ASSERT_TRUE(is_read("example_47")) << value_of("example_47");
    EXPECT_TRUE(value_of("examples").starts_with("0 to 47 of ")) << value_of("examples");
    EXPECT_EQ(value_of("example_5"), "5");
    press_key(ImGuiKey_PageDown);
    EXPECT_TRUE(value_of("examples").starts_with("48 to 95 of ")) << value_of("examples");
    ASSERT_TRUE(is_read("example_3"));
    EXPECT_EQ(value_of("example_3"), "51");
    EXPECT_NE(ui().selection.image.index, 51);
    run("click example_3\nframes 3\n");
    EXPECT_EQ(ui().selection.image.index, 51);
    EXPECT_FALSE(is_there("example_3")) << "what was taken is looked at";
    run("click \"attention/main/choose_sample\"\nframes 3\n");
    EXPECT_TRUE(value_of("examples").starts_with("48 to 95 of ")) << "the page of the chosen one";
}

TEST_F(ExampleGridTest, ArrowKeysGoFromOneToTheNext) {
    open_mirror();
    run("view.workspace_attention\nframes 3\n");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    const int64_t before = ui().selection.image.index;
    run("click \"attention/main/choose_sample\"\nframes 3\n");
    ASSERT_TRUE(is_read("example_47"));
    press_key(ImGuiKey_RightArrow);  // shows where the keys are: at the chosen one
    press_key(ImGuiKey_RightArrow);
    press_key(ImGuiKey_DownArrow);
    press_key(ImGuiKey_Space);
    EXPECT_GE(ui().selection.image.index, before + 8);
    EXPECT_LE(ui().selection.image.index, before + 10);
}

TEST_F(ExampleGridTest, ShowsNoMoreThanTheDataHave) {
    open_mirror();
    const fs::path pictures = scratch_ / "pictures";
    fs::create_directories(pictures);
    for (const char* name : {"a.png", "b.png", "c.png", "d.png"})
        write_png(pictures / name, {16, 16, 1, std::vector<uint8_t>(256, 200)});
    session().run().set("data.source", "images:" + pictures.string() + "?size=16&gray=1&levels=" +
                                           std::to_string(ui().status.config.model.levels));
    ASSERT_TRUE(until([&] { return ui().status.config.data.source.starts_with("images"); }));
    ui().selection.image = {};
    run("view.workspace_attention\nframes 3\n");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    const int64_t size = ui().selection.image.item->part_size;
    run("click \"attention/main/choose_sample\"\nframes 3\n");
    ASSERT_TRUE(is_read("example_0"));
    steps(2);
    EXPECT_TRUE(is_there("example_" + std::to_string(size - 1)));
    EXPECT_FALSE(is_there("example_" + std::to_string(size)));
}

TEST_F(ExampleGridTest, LooksThroughDataBeforeThereIsARun) {
    initialize_model("cpu", 1);
    make();
    run("file.new_run\nframes 3\n");
    run("set home/new_run/preset demo-shapes\nframes 3\n");
    run("click home/new_run/browse_data\nframes 3\n");
    ASSERT_TRUE(is_read("example_47"));
    EXPECT_NE(value_of("example_0"), "0") << "they have classes";
    EXPECT_EQ(value_of("part"), "test");
    run("click part=train\nframes 3\n");
    ASSERT_TRUE(until([&] { return value_of("part") == "train"; }));
    EXPECT_TRUE(value_of("examples").starts_with("0 to 47 of ")) << value_of("examples");
    press_key(ImGuiKey_PageDown);
    ASSERT_TRUE(until([&] { return value_of("examples").starts_with("48 to 95 of "); }));
    EXPECT_EQ(ui().session, nullptr);
}

// One pane of a window that is nothing but the browser.
class BrowserPane final : public Panel {
  public:
    static DataBrowser browser;
    static bool opens;
    void draw(Ui& ui) override {
        if (std::exchange(opens, false)) browser.open(load_preset("demo-shapes"));
        browser.draw(ui);
    }
};
DataBrowser BrowserPane::browser;
bool BrowserPane::opens = false;

TEST_F(ExampleGridTest, WhatWasOpenedIsLetGoWithTheBrowser) {
    initialize_model("cpu", 1);
    const std::vector<PanelRoom> rooms = {{.info = {"Browser", "Data."},
                                           .id = "browser",
                                           .icon = icon::home,
                                           .help = "Data.",
                                           .places = {{Workspace::home, Slot::page}},
                                           .make = make_panel<BrowserPane>}};
    FrameOptions options;
    options.rooms = &rooms;
    make(options);
    for (int i = 0; i < 2; ++i) {
        BrowserPane::opens = true;
        steps(2);
        ASSERT_TRUE(is_read("example_47")) << dump(ui());
        EXPECT_TRUE(BrowserPane::browser.holds_data());
        run("key Escape\nframes 3\n");
        EXPECT_FALSE(is_there("example_47"));
        EXPECT_FALSE(BrowserPane::browser.holds_data());
    }
    stage_.reset();
    BrowserPane::browser = {};
}

TEST_F(ExampleGridTest, SaysWhyDataCannotBeLookedThrough) {
    initialize_model("cpu", 1);
    make();
    run("file.new_run\nframes 3\nset home/new_run/data images:/no/where\nframes 3\n");
    run("click home/new_run/browse_data\nframes 3\n");
    EXPECT_TRUE(until([&] { return value_of("problem").find("/no/where") != std::string::npos; }))
        << value_of("problem");
    EXPECT_FALSE(is_there("examples"));
}

}  // namespace
}  // namespace aft::app
