// Copy as command: the command that a pane puts on the clipboard writes the numbers that it shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "app/cli/program.h"
#include "core/images/image.h"
#include "tests/app/stage_fixture.h"
#include "tests/core/read_npy.h"

namespace aft::app {
namespace {

class CopiedCommands : public BareTest {
  protected:
    void open_picture(ImVec2 size = {1600, 1000}) {
        open_mirror(size);
        ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    }
    // Presses the button, runs what is on the clipboard with this file, and returns the line.
    std::string run_command(const std::string& button_id, const std::string& file) {
        ImVec2 place;
        int still = 0;  // what is still being read moves it
        EXPECT_TRUE(until([&] {
            const WidgetRecord* button = ui().recorder.find(button_id);
            if (button == nullptr || !button->why_not.empty()) return false;
            still = button->min.y == place.y ? still + 1 : 0;
            place = button->min;
            return still >= 20;
        })) << dump(ui());
        run("click " + button_id + "\nframes 2\n");
        std::string line = ImGui::GetClipboardText();
        line = line.substr(0, line.find('\n'));  // of several the first
        std::istringstream words(line);
        std::vector<std::string> list{std::istream_iterator<std::string>(words), {}};
        EXPECT_GT(list.size(), 4U) << line;
        if (list.empty()) return line;
        list.back() = file;
        std::vector<char*> arguments;
        for (std::string& word : list) {
            std::erase(word, '\'');  // as a shell would
            arguments.push_back(word.data());
        }
        EXPECT_EQ(run_program(int(arguments.size()), arguments.data()), 0) << line;
        return line;
    }
    Field numbers_of_command(const std::string& button_id = "inspector/actions/copy_as_command") {
        const std::string file = (scratch_ / "numbers.npy").string();
        (void)run_command(button_id, file);
        return read_npy(file);
    }
    FieldSetPtr shown(ProbeRequest request) {
        request.tokens = ui().selection.image.item->tokens;
        return ask(request);
    }
    static void expect_same(const Field& file, const Field& field) {
        EXPECT_EQ(file.shape, field.shape);
        ASSERT_EQ(file.values.size(), field.values.size());
        for (size_t i = 0; i < field.values.size(); ++i)
            if (!std::isnan(field.values[i])) {
                ASSERT_EQ(file.values[i], field.values[i]) << i;
            }
    }
};

TEST_F(CopiedCommands, OfAttentionWriteWhatIsShown) {
    open_picture();
    run("view.workspace_attention\nframes 20\n");
    const Field file = numbers_of_command();
    ProbeRequest request;
    request.probe = "attention";
    request.layer = ui().selection.cell.layer;
    request.position = ui().selection.cell.target;
    request.options = {{"part", "both"}, {"visible", "nan"}, {"reduce", "gate"}};
    expect_same(file, shown(request)->fields.front());
}

TEST_F(CopiedCommands, OfKeysWriteWhatIsShown) {
    open_picture();
    run("view.workspace_attention\nframes 10\nclick keys/main/tab\nframes 20\n");
    const Field file = numbers_of_command();
    ProbeRequest request;
    request.probe = "keys";
    expect_same(file, shown(request)->fields.front());
}

TEST_F(CopiedCommands, OfTheAtlasWriteWhatIsShown) {
    open_picture();
    run("view.workspace_biases\nframes 20\n");
    const Field file = numbers_of_command();
    EXPECT_EQ(file.values.size() % (256 * 256), 0U);
}

// A step of which the biases alone are stored: the command reads them from the run.
TEST_F(CopiedCommands, OfTheAtlasAtAStepWithoutACheckpointWriteItsBiases) {
    open_trained_run();
    const std::vector<int64_t> saved = session().saved_steps(), history = ui().history;
    const auto step = std::find_if(history.begin(), history.end(), [&](int64_t one) {
        return !std::binary_search(saved.begin(), saved.end(), one);
    });
    ASSERT_NE(step, history.end());
    ui().commands.send(ShowStep{*step});
    run("view.workspace_biases\nframes 20\n");
    ui().selection.quantity = Quantity::w;
    ui().selection.gauge = Gauge::raw;
    steps(20);
    const Field all = numbers_of_command();
    EXPECT_NE(dump(ui()).find("It writes every stored step"), std::string::npos) << dump(ui());
    ASSERT_EQ(all.shape.at(0), int64_t(history.size()));
    ProbeRequest request;
    request.probe = "bias";
    request.step = *step;
    request.options = {{"quantity", "w"}, {"gauge", "raw"}};
    const Field one = ask(request)->fields.front();
    const size_t place = size_t(step - history.begin());
    ASSERT_EQ(one.values.size() * history.size(), all.values.size());
    for (size_t i = 0; i < one.values.size(); ++i)
        if (!std::isnan(one.values[i])) {
            ASSERT_EQ(all.values[place * one.values.size() + i], one.values[i]) << i;
        }
}

TEST_F(CopiedCommands, OfTheStatisticsWriteTheMapOfTheLayer) {
    open_picture();
    run("view.workspace_biases\nframes 6\nclick statistics/main/tab\nframes 20\n");
    EXPECT_EQ(numbers_of_command().values.size() % (256 * 256), 0U);
}

TEST_F(CopiedCommands, OfATraceWriteWhatIsShown) {
    open_picture();
    run("view.workspace_attention\nframes 10\nclick trace/main/tab\nframes 20\n");
    const Field file = numbers_of_command();
    ProbeRequest request;
    request.probe = "trace";
    request.position = ui().selection.cell.target;
    expect_same(file, shown(request)->fields.front());
}

// Also where its tools take two lines.
TEST_F(CopiedCommands, OfPatchingWriteWhatIsShown) {
    open_picture({1100, 700});
    run("view.workspace_lab\nframes 6\nclick patching/main/tab\nframes 10\n");
    ASSERT_TRUE(until([&] {
        const WidgetRecord* const patch = ui().recorder.find("patching/main/patch");
        return patch != nullptr && patch->why_not.empty();
    })) << dump(ui());
    run("click patching/main/patch\nframes 4\n");
    const Field file = numbers_of_command("patching/main/copy_as_command");
    ProbeRequest request;
    request.probe = "patching";
    const ImageChoice& image = ui().selection.image;
    request.tokens = image.item->tokens;
    const auto other = session().items().example(image.split, 1);
    request.tokens.insert(request.tokens.end(), other->tokens.begin(), other->tokens.end());
    expect_same(file, ask(request)->fields.front());
}

// Of the step on the screen, not of the newest one.
TEST_F(CopiedCommands, OfStructureAndFactorsAreOfTheShownStep) {
    open_trained_run();
    const int64_t step = session().saved_steps().front();
    ASSERT_LT(step, 60);
    ui().commands.send(ShowStep{step});
    run("view.workspace_biases\nframes 6\nclick structure/main/tab\nframes 20\n");
    ProbeRequest request;
    request.probe = "reach";
    request.step = step;
    expect_same(numbers_of_command("structure/main/copy_as_command"), ask(request)->fields.front());
    run("click factors/main/tab\nframes 20\n");
    request.probe = "components";
    request.options = {{"components", "8"}};
    expect_same(numbers_of_command("factors/main/copy_as_command"), ask(request)->fields.front());
}

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

TEST_F(CopiedCommands, OfTheCurvesWriteTheLog) {
    open_trained_run();
    run("view.workspace_train\nframes 6\nclick inspector/main/tab\nframes 6\n");
    const std::string file = (scratch_ / "log.csv").string();
    const std::string line = run_command("inspector/actions/copy_as_command", file);
    EXPECT_EQ(line.find("afterimage metrics " + folder_.string()), 0U) << line;
    EXPECT_TRUE(std::filesystem::is_regular_file(file));
}

TEST_F(CopiedCommands, OfACompletionDrawTheSameSamples) {
    open_picture();
    run("view.workspace_complete\nframes 10\n");
    ui().selection.completion.sample.samples = 1;
    run("complete.start\nframes 4\n");
    ASSERT_TRUE(until([&] {
        const auto& own = ui().selection.completion.own;
        return own != nullptr && own->done;
    }));
    const std::string file = (scratch_ / "one.png").string();
    const std::string line = run_command("sampling/options/copy_as_command", file);
    EXPECT_NE(line.find(" --keep-rows 8 --samples 1 "), std::string::npos) << line;
    const Image picture = read_image(file);
    const std::vector<uint8_t>& sample = ui().selection.completion.own->samples.front();
    ASSERT_EQ(picture.pixels.size() % sample.size(), 0U);
    ui().selection.completion.mask.apply(viz::MaskPreset::border);
    steps(3);
    run("click sampling/options/copy_as_command\nframes 2\n");
    EXPECT_NE(std::string(ImGui::GetClipboardText()).find(" --mask mask.png "), std::string::npos);
}

TEST_F(CopiedCommands, OfABatchDrawTheSameSamples) {
    open_picture();
    run("view.workspace_complete\nframes 10\nset source/main/examples 0-2,9\nframes 3\n");
    CompletionChoice& choice = ui().selection.completion;
    choice.sample.samples = 1;
    run("complete.start\nframes 4\n");
    ASSERT_TRUE(until([&] { return !choice.batch.is_empty() && !choice.batch.is_running; }));
    const auto folder = scratch_ / "batch";
    const std::string line = run_command("sampling/options/copy_as_command", folder.string());
    EXPECT_NE(line.find(" --index 0-2,9 --keep-rows 8 "), std::string::npos) << line;
    for (const BatchPicture& one : choice.batch.pictures) {
        const std::vector<uint8_t>& drawn = one.completion->samples.front();
        const Image picture =
            read_image((folder / fmt::format("picture-{}", one.index) / "sample-0.png").string());
        ASSERT_EQ(picture.pixels.size() % drawn.size(), 0U);
        const size_t channels = picture.pixels.size() / drawn.size();
        const auto top = double(ui().status.config.model.levels - 1);
        for (size_t i = 0; i < drawn.size(); ++i)
            ASSERT_NEAR(picture.pixels[i * channels], 255 * drawn[i] / top, 0.51) << one.index;
    }
    EXPECT_EQ(read_image((folder / "grid.png").string()).width, 4 * (64 + 2) + 2);
}

TEST_F(CopiedCommands, OfAMeanOverExamplesWriteWhatIsShown) {
    open_picture();
    ui().selection.relative_examples = 3;
    run("view.workspace_attention\nframes 4\nclick relative/main/tab\nframes 4\n");
    ASSERT_TRUE(until([&] {
        return value_of("relative/main/caption").find("each of 3 examples, test 0 to 2") !=
               std::string::npos;
    })) << value_of("relative/main/caption");
    const Field file = numbers_of_command();
    std::vector<double> mean(file.values.size(), 0);
    for (int64_t index = 0; index < 3; ++index) {
        ProbeRequest request;
        request.probe = "relative-attention";
        request.layer = ui().selection.cell.layer;
        request.options = {
            {"part", "both"}, {"reduce", "head"}, {"visible", "nan"}, {"targets", "256"}};
        std::shared_ptr<const DataItem> item;
        ASSERT_TRUE(until([&] {
            item = ui().session->items().example(ui().selection.image.split, index);
            return item != nullptr;
        }));
        request.tokens = item->tokens;
        const FieldSetPtr fields = ask(request);
        ASSERT_NE(fields, nullptr);
        const Field& field = fields->fields.front();
        ASSERT_EQ(field.values.size(), mean.size());
        for (size_t i = 0; i < mean.size(); ++i) mean[i] += double(field.values[i]) / 3;
    }
    for (size_t i = 0; i < mean.size(); ++i) {
        if (std::isnan(mean[i])) continue;
        ASSERT_NEAR(double(file.values[i]), mean[i], 1e-6) << i;
    }
}

}  // namespace
}  // namespace aft::app
