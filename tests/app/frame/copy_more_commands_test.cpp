// Copy as command where several steps, models or draws are shown: Biases, Compare, Watched, Play
// and the completions of Train.
#include <filesystem>

#include "core/images/image.h"
#include "tests/app/frame/copied_commands.h"
#include "tests/app/panels/text_run.h"

namespace aft::app {
namespace {

// Both steps of a change, also of those of which the biases alone are stored.
TEST_F(CopiedCommands, OfAChangeSinceAPinWriteWhatIsShown) {
    open_trained_run();
    const int64_t pin = ui().history.at(1), now = ui().history.back();
    ui().selection.pin(pin);
    run("view.workspace_biases\nmap.difference_to_pin\nframes 20\n");
    ui().selection.quantity = Quantity::exp_minus_one;
    ui().selection.gauge = Gauge::fixed;
    steps(20);
    const Field file = numbers_of_command();
    ProbeRequest request;
    request.probe = "bias";
    request.options = {{"quantity", "exp-1"}, {"gauge", "fixed"}, {"visible", "nan"}};
    request.step = now;
    Field change = ask(request)->fields.front();
    request.step = pin;
    const Field before = ask(request)->fields.front();
    for (size_t i = 0; i < change.values.size(); ++i) change.values[i] -= before.values[i];
    expect_same(file, change);
}

TEST_F(CopiedCommands, OfCompareWriteTheMapsAndPrintTheTables) {
    open_trained_run();
    run("compare.add_step\nframes 20\nset compare/main/below layers\nframes 4\n");
    CompareChoice& compare = ui().selection.compare;
    compare.view = CompareView::difference;
    ui().selection.quantity = Quantity::w;
    ui().selection.gauge = Gauge::fixed;
    ASSERT_TRUE(until([&] {
        return value_of("compare/main/layers:l0").find("|") != std::string::npos &&
               value_of("compare/main/progress").empty();
    })) << dump(ui());
    const Field file = numbers_of_command();
    ProbeRequest request;
    request.probe = "bias";
    request.options = {{"quantity", "w"}, {"gauge", "fixed"}, {"visible", "nan"}};
    const auto map_of = [&](const CompareSlot& slot) {
        request.step = slot.is_open()   ? ui().shown_step()
                       : slot.step >= 0 ? slot.step
                                        : ui().history.back();
        return ask(request)->fields.front();
    };
    const Field a = map_of(compare.slots.at(0));
    Field change = map_of(compare.slots.at(1));
    ASSERT_NE(a.step, change.step);
    for (size_t i = 0; i < change.values.size(); ++i) change.values[i] -= a.values[i];
    expect_same(file, change);
    compare.view = CompareView::split;
    steps(4);
    EXPECT_EQ(numbers_of_command().shape, (std::vector<int64_t>{2, a.shape[0], a.shape[1]}));
}

TEST_F(CopiedCommands, OfWatchedWriteTheCurves) {
    open_trained_run();
    ui().selection.quantity = Quantity::w;
    ui().selection.gauge = Gauge::raw;
    ui().selection.lock({.layer = 1, .target = 5, .source = 3});
    run("selection.pin\nview.workspace_biases\nframes 4\nclick watched/main/tab\nframes 20\n");
    const Field file = numbers_of_command("inspector/watched/copy_as_command");
    ASSERT_EQ(file.shape.at(0), int64_t(ui().history.size()));
    ProbeRequest request;
    request.probe = "bias";
    request.layer = 1;
    request.options = {{"quantity", "w"}, {"gauge", "raw"}};
    const size_t T = size_t(ui().status.tokens), width = file.values.size() / ui().history.size();
    for (size_t i = 0; i < ui().history.size(); i += 7) {
        request.step = ui().history[i];
        EXPECT_EQ(file.values.at(i * width + 3), ask(request)->fields.front().values.at(5 * T + 3));
    }
    EXPECT_NE(std::string(ImGui::GetClipboardText()).find("\nafterimage probe formation"),
              std::string::npos)
        << "a line for each curve";
}

TEST_F(CopiedCommands, OfPlayWriteTheDistribution) {
    const auto before = std::filesystem::current_path();
    open_picture();
    std::filesystem::current_path(scratch_ / "");
    run("view.workspace_complete\nframes 10\ncomplete.start\nframes 4\n");
    ASSERT_TRUE(until([&] {
        const auto& own = ui().selection.completion.own;
        return own != nullptr && own->done && is_there("samples/main/sample_1");
    }));
    run("click samples/main/sample_1\nframes 20\n");
    const int64_t position = ui().selection.completion.position;
    ASSERT_GE(position, 0);
    const Field file = numbers_of_command("play/main/copy_as_command");
    std::filesystem::current_path(before);
    ProbeRequest request;
    request.probe = "predictions";
    request.tokens = ui().selection.completion.own->samples.front();
    request.options = {{"position", std::to_string(position)}};
    const Field shown = ask(request)->fields.front();
    ASSERT_EQ(file.values.size(), shown.values.size());
    for (size_t i = 0; i < shown.values.size(); ++i)
        EXPECT_NEAR(file.values[i], shown.values[i], 1e-5) << i;
    EXPECT_TRUE(std::filesystem::exists(scratch_ / "sample.png"));
}

// A text stands in the command itself.
TEST_F(CopiedCommands, OfPlayOfATextWriteTheDistribution) {
    initialize_model("cpu", 1);
    make();
    ui().commands.send(OpenRun{text_run(scratch_ / "", 2)});
    run("frames 2\nwait Ready\nrun.start\nwait Stopped\nview.workspace_complete\nframes 6\n");
    ui().selection.completion.prompt = "Line 7 ";
    ui().selection.completion.length = 12;
    run("complete.start\nframes 4\n");
    ASSERT_TRUE(until([&] {
        const auto& own = ui().selection.completion.own;
        return own != nullptr && own->done;
    }));
    ui().selection.completion.position = 7;  // the first byte: what follows may be anything
    steps(20);
    const Field file = numbers_of_command("play/main/copy_as_command");
    ProbeRequest request;
    request.probe = "predictions";
    const auto& sample = ui().selection.completion.own->samples.front();
    request.tokens.assign(sample.begin(), sample.begin() + 8);
    request.options = {{"position", "7"}};
    const Field shown = ask(request)->fields.front();
    ASSERT_EQ(file.values.size(), shown.values.size());
    for (size_t i = 0; i < shown.values.size(); ++i)
        EXPECT_NEAR(file.values[i], shown.values[i], 1e-5) << i;
}

TEST_F(CopiedCommands, OfTheCompletionsOfTrainDrawThemAgain) {
    open_mirror();
    run("view.workspace_train\nframes 4\nclick completions/main/tab\nframes 4\n"
        "click inspector/main/tab\nframes 4\n");
    ASSERT_TRUE(until([&] {
        const auto now = session().completions().latest();
        return now != nullptr && now->done;
    }));
    const auto drawn = session().completions().latest();
    const auto folder = scratch_ / "again";
    (void)run_command("inspector/completions/copy_as_command", folder.string());
    for (size_t i = 0; i < drawn->samples.size(); ++i) {
        const Image picture = read_image((folder / fmt::format("sample-{}.png", i)).string());
        ASSERT_EQ(picture.pixels.size() % drawn->samples[i].size(), 0U);
        const size_t channels = picture.pixels.size() / drawn->samples[i].size();
        const auto top = double(ui().status.config.model.levels - 1);
        for (size_t k = 0; k < drawn->samples[i].size(); ++k)
            ASSERT_NEAR(picture.pixels[k * channels], 255 * drawn->samples[i][k] / top, 0.51) << k;
    }
}

}  // namespace
}  // namespace aft::app
