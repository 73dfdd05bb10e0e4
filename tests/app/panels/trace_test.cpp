// Trace: what the pane shows is what the probe gives, and a source leads further back.
#include <algorithm>
#include <fstream>

#include "core/text.h"
#include "tests/app/stage_fixture.h"
#include "viz/text_map.h"

namespace aft::app {
namespace {

class TracePane : public BareTest {
  protected:
    void show() {
        run("frames 2\nview.workspace_attention\nframes 4\nclick trace/main/tab\nframes 4\n");
    }
    void show_mirror() {
        open_mirror();
        show();
        ASSERT_TRUE(until([&] { return is_there(kFirst); })) << dump(ui());
    }
    // A run whose task and mixer are these.
    void open(const std::string& task, const std::string& mixer) {
        Config config = tiny_config();
        config.model.task = task;
        config.model.mixer = mixer;
        if (task == "text") {
            std::ofstream text(scratch_ / "plain.txt");
            for (int i = 0; i < 400; ++i) text << "Line " << i << " says: all's well.\n";
            config.model.own["length"] = 96;
            config.model.levels = 256;
            config.data.source = "text:" + (scratch_ / "plain.txt").string();
        }
        open_run(std::move(config));
    }
    void open_run(Config config) {
        initialize_model("cpu", 1);
        OpenRequest request;
        request.out = (scratch_ / config.model.mixer).string();
        request.config = std::move(config);
        make();
        ui().commands.send(OpenRun{std::move(request)});
        run("frames 2\nwait Ready\n");
        show();
    }
    FieldSetPtr ask(const std::string& residual = "measured", const std::string& layers = "") {
        ProbeRequest request;
        request.probe = "trace";
        request.position = ui().selection.cell.target;
        request.tokens = ui().selection.image.item->tokens;
        request.options = {{"residual", residual}};
        if (!layers.empty()) request.options["layers"] = layers;
        return BareTest::ask(request);
    }
    // Position, share and share by prior of a row of the table.
    struct Strongest {
        int64_t position = 0;
        double share = 0, prior = 0;
    };
    static Strongest strongest(const FieldSet& set, int64_t layer, size_t rank) {
        const Field& field = *set.find("strongest");
        const auto count = size_t(field.shape.at(1)), columns = size_t(field.shape.at(2));
        const float* const row = &field.values.at((size_t(layer) * count + rank) * columns);
        return {int64_t(row[0]), row[1], columns > 2 ? row[2] : -1};
    }
    static std::string percent(double share) {
        return share < 1e-5 ? "below 0.001 %" : plain_number(100 * share, 3) + " %";
    }
    static constexpr const char* kFirst = "trace/main/sources:source_0";
};

TEST_F(TracePane, ReadsTheTraceThatTheProbeGives) {
    show_mirror();
    const int64_t layers = ui().status.config.model.layers;
    for (int64_t layer = 0; layer < layers; ++layer)
        EXPECT_TRUE(is_there(fmt::format("trace/main/trace_{}", layer))) << layer;
    EXPECT_NE(dump(ui()).find("An approximation"), std::string::npos);
    const FieldSetPtr set = ask();
    ASSERT_NE(set, nullptr);
    for (int64_t layer = layers - 1; layer >= 0; --layer) {
        ui().selection.cell.layer = layer;
        steps(2);
        for (const size_t rank : {0, 3}) {
            const Strongest row = strongest(*set, layer, rank);
            const std::string words = value_of(fmt::format("trace/main/sources:source_{}", rank));
            EXPECT_NE(words.find(" | " + percent(row.share) + " | " + percent(row.prior)),
                      std::string::npos)
                << words << ", wanted " << percent(row.share) << " and " << percent(row.prior);
        }
        EXPECT_NE(value_of(fmt::format("inspector/kept/layer_{}", layer))
                      .find(plain_number(100 * set->find("kept")->values.at(size_t(layer)), 1)),
                  std::string::npos);
    }
    // Over the pixel of the strongest source the hover line reads its share in that map.
    const Strongest top = strongest(*set, 0, 0);
    const WidgetRecord* const map = ui().recorder.find("trace/main/trace_0");
    ASSERT_NE(map, nullptr);
    const int64_t width = ui().status.config.model.width, place = top.position - 1;
    ASSERT_GE(place, 0) << "the start token has no pixel";
    const float zoom = (map->max.x - map->min.x) / float(width);
    ImGui::GetIO().AddMousePosEvent(map->min.x + (float(place % width) + 0.5F) * zoom,
                                    map->min.y + (float(place / width) + 0.5F) * zoom);
    const std::string wanted = "share " + percent(top.share);
    EXPECT_TRUE(until([&] {
        return value_of("trace/main/hover_line").find(wanted) != std::string::npos;
    })) << value_of("trace/main/hover_line")
        << ", wanted " << wanted;
    EXPECT_NE(value_of("trace/main/hover_line").find("Input tokens"), std::string::npos);
}

TEST_F(TracePane, AnotherResidualIsAnotherTrace) {
    show_mirror();
    const std::string measured = value_of(kFirst);
    for (const std::string residual : {"half", "none"}) {
        run("set trace/main/residual " + residual + "\nframes 2\n");
        const FieldSetPtr set = ask(residual);
        ASSERT_NE(set, nullptr);
        const std::string wanted = " | " + percent(strongest(*set, 0, 0).share);
        EXPECT_TRUE(until([&] { return value_of(kFirst).find(wanted) != std::string::npos; }))
            << value_of(kFirst) << ", wanted " << wanted;
        EXPECT_NE(value_of(kFirst), measured);
    }
}

TEST_F(TracePane, EveryLayerAloneIsShownAtOnce) {
    show_mirror();
    run("set trace/main/layers alone\nframes 2\n");
    const FieldSetPtr set = ask("measured", "alone");
    ASSERT_NE(set, nullptr);
    const std::string wanted = " | " + percent(strongest(*set, 0, 0).share);
    EXPECT_TRUE(until([&] { return value_of(kFirst).find(wanted) != std::string::npos; }))
        << value_of(kFirst) << ", wanted " << wanted;
    const WidgetRecord* const half = ui().recorder.find("trace/main/residual=half");
    ASSERT_NE(half, nullptr);
    EXPECT_NE(half->why_not, "");
}

TEST_F(TracePane, ASourceBecomesTheTargetAndBackReturns) {
    show_mirror();
    const int64_t target = ui().selection.cell.target;
    EXPECT_NE(ui().actions.why_not(ui(), "trace.back"), "");
    const FieldSetPtr set = ask();
    size_t rank = 0;  // the first one that is a pixel
    while (strongest(*set, 0, rank).position == 0) ++rank;
    const int64_t source = strongest(*set, 0, rank).position;
    run(fmt::format("click trace/main/sources:source_{}\nframes 3\n", rank));
    EXPECT_EQ(ui().selection.cell.target, source - 1) << "input j carries sub-pixel j - 1";
    EXPECT_TRUE(ui().selection.locked);
    EXPECT_TRUE(until([&] {
        return value_of("trace/main/caption").find(fmt::format("target {} ", source - 1)) !=
               std::string::npos;
    })) << value_of("trace/main/caption");
    const FieldSetPtr further = ask();
    EXPECT_TRUE(until([&] {
        return value_of(kFirst).find(percent(strongest(*further, 0, 0).share)) != std::string::npos;
    })) << value_of(kFirst);
    run("click trace/main/trace.back\nframes 3\n");
    EXPECT_EQ(ui().selection.cell.target, target);
    EXPECT_NE(ui().actions.why_not(ui(), "trace.back"), "");
}

TEST_F(TracePane, AClickOnAMapShowsItsTableAndOneOnThePictureTraces) {
    show_mirror();
    const int64_t last = ui().status.config.model.layers - 1;
    run(fmt::format("click trace/main/trace_{}\nframes 3\n", last));
    EXPECT_EQ(ui().selection.cell.layer, last);
    const int64_t before = ui().selection.cell.target;
    run("click trace/main/sample\nframes 3\n");
    EXPECT_NE(ui().selection.cell.target, before);
    const std::string words = fmt::format("target {} ", ui().selection.cell.target);
    EXPECT_TRUE(until([&] {
        return value_of("trace/main/caption").find(words) != std::string::npos;
    })) << value_of("trace/main/caption");
}

TEST_F(TracePane, ATextIsTracedInItsCharacters) {
    open("text", "aft-local");
    ASSERT_TRUE(until([&] { return is_there("trace/main/traced_text") && is_there(kFirst); }))
        << dump(ui());
    EXPECT_TRUE(is_there("trace/main/trace_0"));
    EXPECT_FALSE(is_there("trace/main/sample")) << "the text stands above its maps";
    ui().selection.cell.target = 20;
    steps(2);
    const FieldSetPtr set = ask();
    const Strongest top = strongest(*set, 0, 0);
    EXPECT_TRUE(until([&] {
        return value_of(kFirst).find(" | " + percent(top.share)) != std::string::npos;
    })) << value_of(kFirst);
    // The fifth character of the first line becomes the target.
    const WidgetRecord* const text = ui().recorder.find("trace/main/traced_text");
    ASSERT_NE(text, nullptr);
    const ImVec2 cell = viz::text_cell(ui());
    ImGuiIO& io = ImGui::GetIO();
    io.AddMousePosEvent(text->min.x + 4.5F * cell.x, text->min.y + 0.5F * cell.y);
    steps(2);
    io.AddMouseButtonEvent(0, true);
    steps(1);
    io.AddMouseButtonEvent(0, false);
    steps(3);
    EXPECT_EQ(ui().selection.cell.target, 4);
}

TEST_F(TracePane, SoftmaxHasNoPriorAndLambdaNoTrace) {
    open("image", "softmax");
    ASSERT_TRUE(until([&] { return is_there(kFirst); })) << dump(ui());
    const std::string words = value_of(kFirst);
    EXPECT_EQ(std::count(words.begin(), words.end(), '|'), 2) << words;  // source, value, share
    Config shapes = load_preset("demo-shapes");
    shapes.model.mixer = "lambda";
    open_run(std::move(shapes));
    EXPECT_NE(value_of("trace/main/empty_state").find("lambda"), std::string::npos)
        << value_of("trace/main/empty_state");
    run("click attention/main/tab\nframes 8\n");
    EXPECT_NE(value_of("attention/main/empty_state").find("lambda"), std::string::npos)
        << dump(ui());
}

// From a value that was drawn: its position is the target here, too.
TEST_F(TracePane, FollowsTheValueThatPlayLeadsTo) {
    open_mirror();
    run("view.workspace_complete\n");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    run("key Ctrl+Enter\n");
    ASSERT_TRUE(until([&] {
        const auto& own = ui().selection.completion.own;
        return own && own->done;
    }));
    ui().selection.completion.position = 200;
    ui().selection.completion.chosen = 2;
    run("frames 3\ncomplete.look_from_here\nframes 4\nclick trace/main/tab\nframes 4\n");
    ASSERT_TRUE(until([&] { return is_there(kFirst); })) << dump(ui());
    EXPECT_EQ(ui().selection.cell.target, 200);
    EXPECT_NE(value_of("trace/main/caption").find("target 200 "), std::string::npos)
        << value_of("trace/main/caption");
}

}  // namespace
}  // namespace aft::app
