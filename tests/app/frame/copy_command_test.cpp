// Copy as command: the command that a pane puts on the clipboard writes the numbers that it shows.
#include <algorithm>
#include <filesystem>

#include "app/panels/complete/completion_command.h"
#include "app/panels/shared/completion_readings.h"
#include "app/panels/shared/sample_input.h"
#include "core/images/image.h"
#include "tests/app/frame/copied_commands.h"

namespace aft::app {
namespace {

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

// The token whose loss is measured, and the recipe as it is now in a file of its own.
TEST_F(CopiedCommands, OfPatchingNameTheTokenAndAFileThatHoldsTheRecipe) {
    open_picture();
    LabChoice& lab = ui().selection.lab;
    run("lab.zero_selected\nframes 3\n");
    const std::string taken = (scratch_ / "r.json").string();
    lab.file = taken;
    run("lab.save_recipe\nframes 2\n");
    const Recipe before = lab.recipe;
    lab.recipe.interventions.front().strength = 0.5;
    run("click patching/main/tab\nframes 10\nset patching/main/patched_token 200\nframes 3\n");
    ASSERT_TRUE(until([&] {
        const WidgetRecord* const patch = ui().recorder.find("patching/main/patch");
        return patch != nullptr && patch->why_not.empty();
    })) << dump(ui());
    run("click patching/main/patch\nframes 4\n");
    const std::string file = (scratch_ / "patched.npy").string();
    const std::string line = run_command("patching/main/copy_as_command", file);
    EXPECT_NE(line.find("position=200"), std::string::npos) << line;
    EXPECT_NE(line.find("r-2.json"), std::string::npos) << line;
    EXPECT_EQ(read_recipe(taken), before);
    ProbeRequest request;
    request.probe = "patching";
    request.recipe = lab.active();
    request.options = {{"position", "200"}};
    const ImageChoice& image = ui().selection.image;
    request.tokens = image.item->tokens;
    const auto other = session().items().example(image.split, 1);
    request.tokens.insert(request.tokens.end(), other->tokens.begin(), other->tokens.end());
    expect_same(read_npy(file), ask(request)->fields.front());
    lab.recipe.interventions.front().strength = 0.25;  // the map is still of the one before
    steps(3);
    const WidgetRecord* copy = ui().recorder.find("patching/main/copy_as_command");
    ASSERT_NE(copy, nullptr);
    EXPECT_NE(copy->why_not.find("press Patch"), std::string::npos) << copy->why_not;
    lab.recipe.interventions.front().strength = 0.5;
    show_sample(ui(), ui().selection.image.split, 5);
    ASSERT_TRUE(until([&] {
        copy = ui().recorder.find("patching/main/copy_as_command");
        return copy != nullptr && copy->why_not.find("Another example") == 0;
    })) << copy->why_not;
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
    // A mask of no whole rows is written beside the command; one drawn value is changed.
    run("complete.start\nframes 4\n");
    const auto& own = ui().selection.completion.own;
    const auto is_drawn = [&] { return !is_completing(ui()) && own != nullptr && own->done; };
    ASSERT_TRUE(until(is_drawn));
    const struct Folder {  // back again, whatever happens
        std::filesystem::path before = std::filesystem::current_path();
        ~Folder() { std::filesystem::current_path(before); }
    } folder;
    std::filesystem::current_path(scratch_ / ".");
    ui().selection.completion.position = 3;
    ui().selection.completion.level = own->samples.front().at(3) == 0 ? 1 : 0;
    const uint64_t first = own->id;
    run("complete.from_here\nframes 4\n");
    EXPECT_TRUE(until([&] { return own->id != first && is_drawn(); }));
    const std::vector<uint8_t> changed = own->samples.front();
    const std::string again = run_command("sampling/options/copy_as_command", file);
    EXPECT_NE(again.find(" --mask mask.png "), std::string::npos) << again;
    EXPECT_NE(again.find(" --change 0:3="), std::string::npos) << again;
    const Image drawn = read_image(file);
    const size_t step = drawn.pixels.size() / changed.size();
    const auto top = double(ui().status.config.model.levels - 1);
    for (size_t i = 0; i < changed.size(); ++i)
        ASSERT_NEAR(drawn.pixels[i * step], 255 * changed[i] / top, 0.51) << i;
    // Of another seed it was not drawn.
    ui().selection.completion.sample.seed += 1;
    const CopiedCommand other = completion_command(ui(), "mask.png");
    EXPECT_EQ(other.command.find("--change"), std::string::npos) << other.command;
    EXPECT_NE(other.note.find("before Continue from here"), std::string::npos) << other.note;
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
