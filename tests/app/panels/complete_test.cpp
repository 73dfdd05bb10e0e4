// Complete: the picture that cannot be had, data chosen in place, shortcuts that end in one frame,
// stopping, and the distribution at a clicked sub-pixel.
#include <imgui.h>

#include <fstream>

#include "app/frame/data_location.h"
#include "app/panels/complete/completion_state.h"
#include "core/data_spec.h"
#include "core/images/image.h"
#include "core/text.h"
#include "tests/app/stage_fixture.h"
#include "tests/source_file.h"

namespace aft::app {
namespace {

namespace fs = std::filesystem;

class Complete : public BareTest {
  protected:
    // The picture file that needs no data.
    std::string white_picture() {
        Image image{8, 8, 3, std::vector<uint8_t>(size_t{8} * 8 * 3, 255)};
        const std::string path = (scratch_ / "white.png").string();
        write_png(path, image);
        return path;
    }
    // Completes what is chosen; the answer, drawn.
    std::shared_ptr<const Completion> completed() {
        run("key Ctrl+Enter\n");
        (void)until([&] {
            const auto now = ui().session->completions().latest();
            return now && now->done;
        });
        steps(4);
        return ui().session->completions().latest();
    }
    // The shipped mirror model, with data that lie where nothing is.
    void open_without_data() {
        initialize_model("cpu", 1);
        make();
        stage_->frame().open(source_file("assets/demo/mirror.safetensors").string());
        run("frames 2\nwait Ready\n");
        const int64_t levels = ui().status.config.model.levels;
        session().run().set("data.source", "images:" + (scratch_ / "nowhere").string() +
                                               "?size=16&gray=1&levels=" + std::to_string(levels));
        ui().selection.image = {};
        ASSERT_TRUE(until([&] { return ui().status.config.data.source.starts_with("images"); }));
        ui().selection.image = {};
        run("view.workspace_complete\nframes 3\n");
    }
};

TEST(DataLocation, SplitsAndJoinsASpec) {
    const DataSpec place = split_data_spec("cifar10:data/cifar10?size=16");
    EXPECT_EQ(place.room, "cifar10");
    EXPECT_EQ(place.path, "data/cifar10");
    EXPECT_EQ(place.options, "?size=16");
    for (const char* spec :
         {"cifar10:data/cifar10?size=16", "mirror?size=8", "mirror", "text:a.txt"})
        EXPECT_EQ(split_data_spec(spec).text(), spec);
    EXPECT_EQ(split_data_spec("mirror?size=8").path, "");
}

TEST_F(Complete, ShortcutCountsThoughControlIsReleasedInTheSameFrame) {
    make(fed(feed_small));
    ui().workspace = Workspace::train;
    steps(2);
    ImGuiIO& io = ImGui::GetIO();
    io.AddKeyEvent(ImGuiMod_Ctrl, true);
    io.AddKeyEvent(ImGuiKey_LeftCtrl, true);
    steps(1);
    const double before = ui().settings.zoom;
    io.AddKeyEvent(ImGuiKey_Equal, true);
    io.AddKeyEvent(ImGuiKey_LeftCtrl, false);
    io.AddKeyEvent(ImGuiMod_Ctrl, false);
    io.AddKeyEvent(ImGuiKey_Equal, false);
    steps(3);
    EXPECT_GT(ui().settings.zoom, before);
    const double larger = ui().settings.zoom;  // without Ctrl the key does nothing
    io.AddKeyEvent(ImGuiKey_Equal, true);
    steps(1);
    io.AddKeyEvent(ImGuiKey_Equal, false);
    steps(2);
    EXPECT_EQ(ui().settings.zoom, larger);
}

TEST_F(Complete, DataThatAreNotThereAreNamedAndCanBeChosenInPlace) {
    open_without_data();
    ASSERT_TRUE(until([&] { return is_there("samples/main/banner"); }));
    EXPECT_NE(value_of("samples/main/banner").find("nowhere"), std::string::npos);
    EXPECT_NE(ui().actions.why_not(ui(), "complete.start").find("nowhere"), std::string::npos);
    run("view.workspace_attention\nframes 4\n");
    EXPECT_TRUE(is_there("attention/main/banner"));
    EXPECT_FALSE(is_there("attention/main/both")) << "no map of nothing";

    fs::create_directories(scratch_ / "pictures");
    for (const char* name : {"a.png", "b.png", "c.png", "d.png"})
        fs::copy_file(white_picture(), scratch_ / "pictures" / name);
    choose_data(ui(), (scratch_ / "pictures").string());
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }))
        << ui().selection.image.error;
    run("frames 4\n");
    EXPECT_FALSE(is_there("attention/main/banner"));
    EXPECT_EQ(value_of("status/main/message").find("nowhere"), std::string::npos)
        << "mended, and no longer said";
    EXPECT_EQ(ui().settings.data_locations.at((scratch_ / "nowhere").string()),
              (scratch_ / "pictures").string());
}

TEST_F(Complete, APictureFromAFileOrABlankOneNeedsNoData) {
    open_without_data();
    ASSERT_TRUE(until([&] { return is_there("samples/main/banner"); }));
    stage_->frame().open(white_picture());
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    run("key Ctrl+Enter\n");
    ASSERT_TRUE(until([&] {
        const auto now = ui().session->completions().latest();
        return now && now->done && now->error.empty();
    }));
    EXPECT_FALSE(is_there("samples/main/banner"));
    run("complete.blank_picture\nframes 3\n");
    EXPECT_EQ(ui().actions.why_not(ui(), "complete.start"), "");
    run("view.workspace_attention\nframes 3\n");
    EXPECT_TRUE(until([&] { return is_there("attention/main/both"); }));
}

// Without scrolling, where the window has its usual size.
TEST_F(Complete, TheNumbersOfTheUncertaintyStandInThePane) {
    open_mirror();
    run("view.workspace_complete\nframes 3\n");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    ASSERT_NE(completed(), nullptr);
    const WidgetRecord* const bar = ui().recorder.find("sampling/uncertainty/entropy_range");
    ASSERT_NE(bar, nullptr) << dump(ui());
    EXPECT_TRUE(bar->visible);
    EXPECT_LT(bar->max.y, 890) << "above the timeline";
    EXPECT_GT(bar->max.y - bar->min.y, 60) << "with its numbers";
}

TEST_F(Complete, EscapeStopsAndAFileThatIsNoPictureIsNamed) {
    open_without_data();
    run("complete.blank_picture\nframes 2\n");
    {
        const WakeGate::Closed closed(*gate_);
        ASSERT_TRUE(hold_in_completion(session(), *gate_, [&] { run("key Ctrl+Enter\n"); }));
        ImGui::SetNavCursorVisible(true);  // also from a control that has the keyboard
        run("key Esc\n");
    }
    const auto latest = [&] { return session().completions().latest(); };
    ASSERT_TRUE(until([&] { return latest() != nullptr && latest()->done; }));
    EXPECT_EQ(latest()->id, ui().selection.completion.own_id);
    EXPECT_EQ(latest()->error, "");
    EXPECT_TRUE(latest()->stopped);
    const fs::path broken = scratch_ / "broken.png";
    std::ofstream(broken) << "no picture";
    stage_->frame().open(broken.string());
    ASSERT_TRUE(until([&] { return !ui().selection.image.error.empty(); }));
    EXPECT_NE(ui().selection.image.error.find("broken.png"), std::string::npos);
}

// However many there are, they stand side by side and are large enough to be looked at.
TEST_F(Complete, ManySamplesFillTheWidthAndCanBeRead) {
    initialize_model("cpu", 1);
    make({}, {1280, 800});
    stage_->frame().open(source_file("assets/demo/mirror.safetensors").string());
    run("frames 2\nwait Ready\nview.workspace_complete\n");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    for (const int64_t count : {1, 32, 120}) {
        ui().selection.completion.sample.samples = count;
        run("key Ctrl+Enter\nframes 2\n");
        const std::string last = fmt::format("samples/main/sample_{}", count);
        ASSERT_TRUE(until([&] { return is_there(last); })) << count;
        steps(2);
        const WidgetRecord first = *ui().recorder.find("samples/main/sample_1");
        EXPECT_GE(first.max.x - first.min.x, 48) << count;
        int in_line = 0;
        for (const WidgetRecord& w : ui().recorder.last())
            if (w.path.id.starts_with("samples/main/sample_") && w.kind == "picture")
                in_line += w.min.y == first.min.y ? 1 : 0;
        EXPECT_GE(in_line, count == 1 ? 1 : 6) << count;
    }
}

// From a value that was drawn to where the model looked: the sample is the picture there, its
// position the target.
TEST_F(Complete, AValueLeadsToWhatItWasDrawnFrom) {
    initialize_model("cpu", 1);
    make();
    stage_->frame().open(source_file("assets/demo/mirror.safetensors").string());
    run("frames 2\nwait Ready\nview.workspace_complete\n");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    EXPECT_NE(ui().actions.why_not(ui(), "complete.look_from_here"), "");
    run("key Ctrl+Enter\n");
    const auto done = [&] {
        const auto& own = ui().selection.completion.own;
        return own && own->done;
    };
    ASSERT_TRUE(until(done));
    ui().selection.completion.position = 200;
    ui().selection.completion.chosen = 2;
    run("frames 3\ncomplete.look_from_here\nframes 4\n");
    EXPECT_EQ(ui().workspace, Workspace::attention);
    EXPECT_EQ(ui().selection.cell.target, 200);
    ASSERT_TRUE(ui().selection.image.item);
    EXPECT_EQ(ui().selection.image.item->tokens, ui().selection.completion.own->samples.at(2));
    EXPECT_TRUE(until([&] {
        return value_of("inspector/prior_or_content/divergence_from_prior").find("bit") !=
               std::string::npos;
    })) << dump(ui());
    EXPECT_NE(dump(ui()).find("sample 3"), std::string::npos);
}

TEST_F(Complete, APictureThatIsOpenedWithAModelIsForIt) {
    initialize_model("cpu", 1);
    make();
    stage_->frame().open(white_picture());
    stage_->frame().open(source_file("assets/demo/mirror.safetensors").string());
    run("frames 2\nwait Ready\n");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    EXPECT_TRUE(ui().selection.image.path.ends_with(".png")) << ui().selection.image.path;
    EXPECT_EQ(ui().toasts.unread_errors(), 0);
}

// At every sub-pixel that is clicked Play says what the decoder gave the drawn level, and how
// unsure it was.
TEST_F(Complete, PlayReadsTheDecodersProbabilities) {
    initialize_model("cpu", 1);
    make();
    stage_->frame().open(source_file("assets/demo/mirror.safetensors").string());
    run("frames 2\nwait Ready\nview.workspace_complete\n");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    ui().selection.completion.sample.temperature = 1.7;  // what is said must not depend on it
    const auto done = completed();
    ASSERT_TRUE(done != nullptr && done->done);
    ASSERT_EQ(done->error, "");
    ASSERT_TRUE(is_there("samples/main/sample_4"));
    const auto number = [&](const std::string& key) {
        const std::string words = value_of(key);
        return words.empty() || words == "computing" ? -1 : std::stod(words);
    };
    for (const size_t sample : {0, 3})
        for (const size_t position : {128, 150, 201, 255}) {
            const std::string picture = fmt::format("samples/main/sample_{}", sample + 1);
            const WidgetRecord box = *ui().recorder.find(picture);
            const float zoom = (box.max.x - box.min.x) / 16;
            const auto at = [&](size_t i) { return (float(i) + 0.5F) * zoom; };
            run(fmt::format("hover {} {} {}\n", picture, at(position % 16), at(position / 16)));
            ImGui::GetIO().AddMouseButtonEvent(0, true);
            steps(1);
            ImGui::GetIO().AddMouseButtonEvent(0, false);
            steps(2);
            const std::string pane = fmt::format("play/y_{}_x_{}/", position / 16, position % 16);
            const double bits = double(done->surprise[sample][position]);
            EXPECT_EQ(value_of(pane + "chosen"), std::to_string(done->samples[sample][position]));
            EXPECT_TRUE(until([&] {
                return std::abs(number(pane + "probability") - 100 * std::exp2(-bits)) < 0.011 &&
                       std::abs(number(pane + "surprise") - bits) < 0.011 &&
                       std::abs(number(pane + "entropy") -
                                double(done->entropy[sample][position])) < 0.011;
            })) << pane
                << " " << value_of(pane + "probability") << ", " << value_of(pane + "surprise")
                << ", " << value_of(pane + "entropy") << "; the decoder: " << bits
                << " bit, entropy " << done->entropy[sample][position];
        }
}

// Until the answer about a clicked value is there, it says so; never a number of the one before.
TEST_F(Complete, ANumberOfTheValueBeforeIsNeverShown) {
    open_mirror();
    run("view.workspace_complete\nframes 4\n");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    const auto done = completed();
    ASSERT_TRUE(done != nullptr && done->done);
    int waited = 0;
    for (const size_t position : {130, 177, 202, 254, 131}) {
        ui().selection.completion.chosen = 0;
        ui().selection.completion.position = int64_t(position);
        ui().selection.completion.level = -1;
        const std::string pane = fmt::format("play/y_{}_x_{}/", position / 16, position % 16);
        const double bits = double(done->surprise[0][position]);
        EXPECT_TRUE(until([&] {
            const std::string words = value_of(pane + "surprise");
            if (words.empty()) return false;
            if (words == "computing") return ++waited < 0;
            EXPECT_NEAR(std::stod(words), bits, 0.011) << pane;
            return true;
        })) << pane;
    }
    EXPECT_GT(waited, 0);
}

TEST(LookAtPixel, AFurtherClickIsTheNextChannelAndAnotherSampleKeepsIt) {
    CompletionChoice choice;
    const auto click = [&](int64_t sample, int64_t pixel) {
        choice.level = 9;
        look_at_pixel(choice, sample, pixel, 3);
        EXPECT_EQ(choice.chosen, sample);
        EXPECT_EQ(choice.level, -1) << "a level belongs to one sub-pixel";
        return choice.position;
    };
    EXPECT_EQ(click(0, 0), 0);
    for (const int64_t position : {30, 31, 32, 30, 31}) EXPECT_EQ(click(0, 10), position);
    EXPECT_EQ(click(2, 10), 31);
    EXPECT_EQ(click(2, 10), 32);
    EXPECT_EQ(click(2, 11), 33);
    look_at_pixel(choice, 2, 11, 1);
    look_at_pixel(choice, 2, 11, 1);
    EXPECT_EQ(choice.position, 11) << "one channel";
}

// A click on the same pixel selects its next channel; the line has all of them.
TEST_F(Complete, EveryChannelOfAColorModelCanBeLookedAt) {
    initialize_model("cpu", 1);
    make();
    stage_->frame().open(source_file("assets/demo/cifar10-small.safetensors").string());
    run("frames 2\nwait Ready\nview.workspace_complete\n");
    stage_->frame().open(white_picture());
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    ui().selection.completion.sample.samples = 2;
    const auto done = completed();
    ASSERT_TRUE(done != nullptr && done->done);
    ASSERT_EQ(done->error, "");
    const std::string picture = "samples/main/sample_2";
    ASSERT_TRUE(is_there(picture));
    const WidgetRecord box = *ui().recorder.find(picture);
    const float zoom = (box.max.x - box.min.x) / 16;
    const size_t first = (13 * 16 + 5) * 3;
    run(fmt::format("hover {} {} {}\n", picture, 5.5F * zoom, 13.5F * zoom));
    for (const size_t c : {0, 1, 2, 0}) {
        ImGui::GetIO().AddMouseButtonEvent(0, true);
        steps(1);
        ImGui::GetIO().AddMouseButtonEvent(0, false);
        steps(2);
        const std::string pane = fmt::format("play/y_13_x_5_{}/", "rgb"[c]);
        const double bits = double(done->surprise[1][first + c]);
        EXPECT_EQ(value_of(pane + "chosen"), std::to_string(done->samples[1][first + c]));
        EXPECT_TRUE(until([&] {
            const std::string words = value_of(pane + "surprise");
            return !words.empty() && words != "computing" &&
                   std::abs(std::stod(words) - bits) < 0.011;
        })) << pane
            << " " << value_of(pane + "surprise") << ", the decoder: " << bits;
    }
    std::string all = "surprise";
    for (size_t c = 0; c < 3; ++c)
        all += " " + plain_number(double(done->surprise[1][first + c]), 2);
    EXPECT_NE(value_of("samples/main/hover_line").find(all + " bit"), std::string::npos)
        << value_of("samples/main/hover_line") << ", wanted " << all;
}

// Chosen once, found again by the next start, through the settings on the disk.
TEST_F(Complete, TheChosenDataFolderIsRememberedAfterClosing) {
    initialize_model("cpu", 1);
    fs::create_directories(scratch_ / "first");
    for (const char* name : {"a.png", "b.png", "c.png", "d.png"})
        fs::copy_file(white_picture(), scratch_ / "first" / name);
    FrameOptions options;
    options.settings_file = scratch_ / "settings.json";
    make(options);
    const auto has_picture = [&] {
        ImageChoice& image = ui().selection.image;
        return image.item != nullptr;
    };
    OpenRequest request;
    request.config = tiny_config();
    request.config->data.source =
        "images:" + (scratch_ / "first").string() + "?size=8&gray=1&levels=4";
    request.out = (scratch_ / "run").string();
    ui().commands.send(OpenRun{std::move(request)});
    run("frames 2\nwait Ready\nclick run/run/step\nwait Paused\nrun.save\n");
    ASSERT_TRUE(until([&] { return ui().status.saved_step == 1; }));
    stage_.reset();
    fs::rename(scratch_ / "first", scratch_ / "second");

    make(options);
    stage_->frame().open((scratch_ / "run").string());
    ASSERT_TRUE(until([&] { return !ui().selection.image.error.empty(); }));
    EXPECT_FALSE(has_picture());
    EXPECT_NE(ui().selection.image.error.find("first"), std::string::npos);
    run("file.choose_data\nframes 3\nset file_browser/where/path " +
        (scratch_ / "second").string() + "\nclick \"file_browser/answer/accept\"\nframes 3\n");
    EXPECT_TRUE(until(has_picture)) << ui().selection.image.error;
    stage_->frame().save_settings();
    stage_.reset();

    make(options);
    stage_->frame().open((scratch_ / "run").string());
    EXPECT_TRUE(until(has_picture)) << ui().selection.image.error;
    EXPECT_NE(ui().status.config.data.source.find("second"), std::string::npos);
}

}  // namespace
}  // namespace aft::app
