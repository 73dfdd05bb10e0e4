// The pane Relative and the card "Save as figure...": what they show is what the probe and the job
// of the command give.
#include <fstream>

#include "app/figures/figure.h"
#include "app/frame/cards/figure_card.h"
#include "app/panels/attention/offset_maps.h"
#include "core/caught.h"
#include "core/text.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class RelativePane : public BareTest {
  protected:
    void show() {
        run("frames 2\nview.workspace_attention\nframes 4\nclick relative/main/tab\nframes 4\n");
    }
    // A run whose task and mixer are these.
    void open(const std::string& task, const std::string& mixer) {
        initialize_model("cpu", 1);
        OpenRequest request;
        request.config = tiny_config();
        request.config->model.task = task;
        request.config->model.mixer = mixer;
        if (task == "text") {
            std::ofstream(scratch_ / "plain.txt") << std::string(4000, 'a') + "bc";
            request.config->model.own["length"] = 32;
            request.config->model.levels = 256;
            request.config->data.source = "text:" + (scratch_ / "plain.txt").string();
        }
        request.out = (scratch_ / (task + mixer)).string();
        make();
        ui().commands.send(OpenRun{std::move(request)});
        run("frames 2\nwait Ready\n");
    }
    std::string saved(const std::string& figure, const std::string& file) {
        while (!ui().toasts.shown().empty()) ui().toasts.close(0);
        run("file.save_figure\nframes 3\nclick figure_card/figures/" + figure + "\nframes 2\nset " +
            "figure_card/answer/file " + file +
            "\nframes 2\nclick figure_card/answer/save\nframes 2\n");
        EXPECT_FALSE(is_there("figure_card/answer/save")) << "the card closes";
        std::string words;
        EXPECT_TRUE(until([&] {
            for (const Toast& toast : ui().toasts.shown())
                if (toast.title.starts_with("Figure")) words = toast.title + ": " + toast.detail;
            return !words.empty();
        }));
        return words;
    }
};

TEST_F(RelativePane, TheHoverLineReadsTheProbe) {
    open_mirror();
    show();
    ASSERT_TRUE(until([&] { return is_there("relative/main/offsets"); }));
    for (const int64_t layer : {1, 0}) {
        ui().selection.cell.layer = layer;
        ProbeRequest request;
        request.probe = "relative-attention";
        request.layer = layer;
        request.tokens = ui().selection.image.item->tokens;
        request.options = {
            {"part", "both"}, {"reduce", "head"}, {"visible", "nan"}, {"targets", "256"}};
        const FieldSetPtr fields = ask(request);
        ASSERT_NE(fields, nullptr);
        const Field& field = fields->fields.front();
        ASSERT_EQ(field.shape.size(), 3u);
        const int64_t rows = field.shape[1], columns = field.shape[2];
        EXPECT_EQ(rows, 2 * ui().status.grid_height - 1);
        const std::string words = fmt::format("layer {}", layer);  // it has no heads
        EXPECT_TRUE(until([&] { return value_of("relative/main/offsets") == words; }))
            << value_of("relative/main/offsets");
        const WidgetRecord* const map = ui().recorder.find("relative/main/offsets");
        ASSERT_NE(map, nullptr);
        // One row above the target, three columns to its left.
        const int64_t row = rows / 2 - 1, column = columns / 2 - 3;
        const float down = (map->max.y - map->min.y) / float(rows);
        const float across = (map->max.x - map->min.x) / float(columns);
        ImGui::GetIO().AddMousePosEvent(map->min.x + (float(column) + 0.5F) * across,
                                        map->min.y + (float(row) + 0.5F) * down);
        const double share = field.values[size_t(row * columns + column)];
        const std::string wanted = "share " + plain_number(100 * share, 3) + " %";
        EXPECT_TRUE(until([&] {
            return value_of("relative/main/hover_line").find(wanted) != std::string::npos;
        })) << value_of("relative/main/hover_line")
            << ", wanted " << wanted;
    }
}

TEST_F(RelativePane, EveryChannelHasAMapAndSaysItsRange) {
    open_mirror();
    show();
    ASSERT_TRUE(until([&] { return is_there("relative/main/offsets"); }));
    EXPECT_FALSE(is_there("relative/main/all_maps")) << "one head, one map";
    run("set relative/main/reduce channel\nframes 3\n");
    EXPECT_TRUE(until([&] { return is_there("relative/main/all_maps"); }));
    EXPECT_NE(value_of("relative/main/caption").find("from 0 to"), std::string::npos)
        << value_of("relative/main/caption");
}

TEST_F(RelativePane, AModelWithoutAGridSaysSo) {
    open("text", "aft-simple");
    show();
    EXPECT_TRUE(until([&] { return is_there("relative/main/empty_state"); }));
    EXPECT_NE(value_of("relative/main/empty_state").find("no grid"), std::string::npos)
        << value_of("relative/main/empty_state");
}

TEST_F(RelativePane, TheCardSavesWhatTheCommandSaves) {
    open_mirror();
    const std::string file = (scratch_ / "mine.svg").string();
    EXPECT_EQ(saved("full-biases", file), "Figure saved: " + file);
    std::ifstream in(file);
    const std::string svg((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    EXPECT_NE(svg.find("<svg"), std::string::npos);
    EXPECT_NE(svg.find("layer 1"), std::string::npos);
}

TEST_F(RelativePane, AFileThatCannotBeWrittenIsAnError) {
    open_mirror();
    EXPECT_TRUE(saved("full-biases", "/no/such/place/f.svg").starts_with("Figure not saved: "));
    EXPECT_TRUE(saved("full-biases", (scratch_ / "f.gif").string()).find(".gif") !=
                std::string::npos);
}

TEST_F(RelativePane, TheCardBeginsWithTheFigureOfWhatIsShown) {
    open_mirror();
    for (const auto& [view, figure] :
         {std::pair{"biases", "full-biases"}, std::pair{"attention", "relative-attention"},
          std::pair{"complete", "completions"}}) {
        run(std::string("view.workspace_") + view + "\nframes 4\nfile.save_figure\nframes 3\n");
        EXPECT_TRUE(value_of("figure_card/answer/file").ends_with(figure + std::string(".svg")))
            << value_of("figure_card/answer/file");
        run("key Esc\nframes 3\n");
    }
    run("view.workspace_attention\nframes 4\nclick keys/main/tab\nframes 4\nfile.save_figure\n"
        "frames 3\n");
    EXPECT_TRUE(value_of("figure_card/answer/file").ends_with("/keys.svg"))
        << value_of("figure_card/answer/file");
}

TEST_F(RelativePane, TheCardCopiesTheCommandOfItsFigure) {
    open_mirror();
    run("view.workspace_biases\nframes 4\nfile.save_figure\nframes 3\n"
        "set figure_card/answer/ground dark\nset figure_card/answer/file mine.png\nframes 3\n"
        "click figure_card/answer/copy_as_command\nframes 2\n");
    EXPECT_EQ(std::string(ImGui::GetClipboardText()), "afterimage figure full-biases " +
                                                          shell_word(ui().status.path) +
                                                          " --theme dark --scale 2 -o mine.png");
}

// What a model cannot make is listed with the reason and cannot be chosen.
TEST_F(RelativePane, TheCardGreysWhatTheModelCannotMake) {
    open_mirror();
    run("file.save_figure\nframes 3\n");
    EXPECT_NE(value_of("figure_card/figures/conv-biases").find("kernel"), std::string::npos)
        << value_of("figure_card/figures/conv-biases");
    EXPECT_NE(value_of("figure_card/figures/training-curves").find("no run folder"),
              std::string::npos);
    const std::string before = value_of("figure_card/answer/file");
    run("click figure_card/figures/conv-biases\nframes 3\n");
    EXPECT_EQ(value_of("figure_card/answer/file"), before);
    run("set figure_card/answer/format png\nframes 3\n");
    EXPECT_TRUE(value_of("figure_card/answer/file").ends_with(".png"))
        << value_of("figure_card/answer/file");
    run("key Esc\nframes 3\n");
    EXPECT_FALSE(is_there("figure_card/answer/file"));
}

TEST(FigureCards, AskForTheChosenExampleAndPart) {
    ViewState ui;
    ui.status.path = "runs/fed";
    ui.status.config.data.source = "mirror?size=8";
    ui.selection.image.split = "validation";
    ui.selection.image.index = 3;
    const FigureRequest request = figure_request(ui, "keys");
    EXPECT_EQ(request.models, std::vector<std::string>{"runs/fed"});
    EXPECT_EQ(request.data, "mirror?size=8&split=validation");
    EXPECT_EQ(request.index, 3);
    ui.selection.completion.pictures = {0, 1, 2, 9};
    EXPECT_EQ(figure_request(ui, "completions").options["pictures"], "0-2,9") << "Complete's batch";
    EXPECT_TRUE(figure_request(ui, "keys").options.empty());
    ui.selection.image.item = std::make_shared<DataItem>();  // blank, or an input of one's own
    EXPECT_EQ(figure_request(ui, "keys").index, -1) << "no example of the data is that one";
}

TEST(FigureCards, CompletionsAreOfTheListedPictures) {
    initialize_model("cpu", 1);
    FigureRequest request;
    request.figure = "completions";
    request.models = {source_file("assets/demo/mirror.safetensors").string()};
    request.options["pictures"] = "7,2";
    const FigureResult made = make_figure(request, {});
    const auto& grid = std::get<FigureGrid>(made.scene.parts.front());
    EXPECT_EQ(grid.rows.front().tiles.size(), 2U);
    request.options["pictures"] = "0-24";
    EXPECT_NE(error_words([&] { (void)make_figure(request, {}); }).find("found 25"),
              std::string::npos);
}

}  // namespace
}  // namespace aft::app
