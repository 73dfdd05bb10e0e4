// Position biases alone in the window: the Biases workspace shows every layer in its own size, the
// other workspaces say what such a file lacks.
#include "app/panels/biases/bias_tools.h"
#include "app/panels/shared/bias_map.h"
#include "app/panels/shared/layer_words.h"
#include "app/panels/shared/positions.h"
#include "tests/app/stage_fixture.h"
#include "tests/app/traits.h"
#include "tests/model/checkpoints/maps_file.h"

namespace aft::app {
namespace {

class MapsAlone : public BareTest {
  protected:
    void open(const nlohmann::json& maps, const std::vector<MapsTensor>& tensors) {
        initialize_model("cpu", 1);
        const auto file = scratch_ / "mine.safetensors";
        put_maps(file, maps_description(maps, 5), tensors);
        make();
        stage_->frame().open(file.string());
        run("frames 2\nwait Ready\nframes 3\n");
    }
    // The map of a layer's head as the panes cut it out of the probe's answer.
    BiasMap map_of(int64_t layer, int64_t head) {
        const BiasForm form(ui().status, layer);
        ProbeRequest request;
        request.probe = form.is_kernel() ? "kernel" : "bias";
        request.layer = layer;
        if (form.layout == BiasLayout::band) request.options["view"] = "band";
        const FieldSetPtr fields = ask(request);
        return fields ? map_of_fields({*fields}, form, head, {}) : BiasMap();
    }
};

TEST_F(MapsAlone, LayersThatDifferAreShownAsPairs) {
    open(mixed_maps(), mixed_tensors());
    const int64_t heads[] = {1, 2, 2, 3, 1}, tokens[] = {4, 6, 5, 7, 8};
    for (int64_t layer = 0; layer < 5; ++layer) {
        SCOPED_TRACE(layer);
        const BiasForm form(ui().status, layer);
        EXPECT_EQ(form.layout, BiasLayout::matrix);
        EXPECT_EQ(form.heads, heads[layer]);
        EXPECT_EQ(form.rows, tokens[layer]);
        for (int64_t head = 0; head < form.heads; ++head)
            EXPECT_EQ(map_of(layer, head).rows, tokens[layer]) << "head " << head;
    }
    EXPECT_EQ(BiasForm(ui().status).heads, 3) << "the most of all";
    EXPECT_EQ(Positions(ui().status, 1).width, 3);
    EXPECT_EQ(Positions(ui().status, 4).channels, 2);
    EXPECT_EQ(layer_words(ui().status, 2), "2, near");
    for (const char* const pane : {"atlas", "focus", "statistics"}) {
        SCOPED_TRACE(pane);
        run("view.workspace_biases\nclick " + std::string(pane) + "/main/tab\nframes 20\n");
        EXPECT_FALSE(is_there(std::string(pane) + "/main/empty_state"));
        EXPECT_EQ(value_of(std::string(pane) + "/main/banner"), "");
    }
}

TEST_F(MapsAlone, LayersAreNamedWhereTheyAreChosen) {
    open(mixed_maps(), mixed_tensors());
    run("view.workspace_biases\nframes 10\n");
    EXPECT_TRUE(label_of("explorer/layers/layer_2").ends_with("/Layer 2, near"))
        << label_of("explorer/layers/layer_2");
    run("click explorer/layers/layer_2\nframes 10\n");
    EXPECT_TRUE(value_of("atlas/main/hover_line").starts_with("layer 2, near"))
        << value_of("atlas/main/hover_line");
    run("click focus/main/tab\nframes 20\n");
    EXPECT_TRUE(value_of("focus/main/caption").starts_with("Layer 2, near"))
        << value_of("focus/main/caption");
    ui().selection.compare.slots.push_back({.path = ui().status.path});
    ui().selection.compare.slots.insert(ui().selection.compare.slots.begin(), CompareSlot());
    run("view.workspace_compare\nframes 10\n");
    ASSERT_TRUE(until([&] { return is_there("compare/main/map_1"); })) << dump(ui());
    EXPECT_EQ(value_of("compare/main/layer"), "2, near");
    EXPECT_NE(value_of("compare/main/caption").find("layer 2, near"), std::string::npos);
}

// As the modules of a framework are called: they differ in a digit amid what all share.
TEST_F(MapsAlone, LongNamesAreShownByWhatTellsThemApart) {
    const auto name = [](const std::string& part) { return "backbone.layers." + part + ".attn.w"; };
    const std::string parts[] = {"0.blocks.0", "0.blocks.1", "a very long name of a block"};
    open(maps_of({map_entry(name(parts[0]), "full", {2, 2}),
                  map_entry(name(parts[1]), "full", {2, 2}),
                  map_entry(name(parts[2]), "full", {2, 2})}),
         {counted_tensor("biases.0", {2, 4, 4}), counted_tensor("biases.1", {2, 4, 4}),
          counted_tensor("biases.2", {2, 4, 4})});
    EXPECT_EQ(layer_words(ui().status, 0), "0, 0.blocks.0");
    EXPECT_EQ(layer_words(ui().status, 1), "1, 0.blocks.1");
    EXPECT_EQ(layer_words(ui().status, 2), "2, a very l\u2026 a block");
    EXPECT_EQ(full_layer_words(ui().status, 1), "1, backbone.layers.0.blocks.1.attn.w");
    run("view.workspace_biases\nclick statistics/main/tab\nframes 20\n");
    const auto tip_of = [&](const std::string& id) {
        const WidgetRecord* const widget = ui().recorder.find(id);
        return widget != nullptr ? widget->tip : "nothing of this id";
    };
    const std::string whole = "Layer 1, " + name(parts[1]);
    EXPECT_TRUE(tip_of("explorer/layers/layer_1").starts_with(whole)) << dump(ui());
    EXPECT_EQ(tip_of("statistics/layers/layers:l1_h0"), whole);
}

TEST_F(MapsAlone, NamesThatOnlyNumberTheLayersAreLeftOut) {
    open(maps_of({map_entry("blocks.0.attn", "full", {2, 2}),
                  map_entry("blocks.1.attn", "full", {2, 2})}),
         plain_tensors());
    EXPECT_FALSE(has_layer_names(ui().status));
    EXPECT_EQ(layer_words(ui().status, 1), "1");
    EXPECT_EQ(full_layer_words(ui().status, 1), "1, blocks.1.attn");
}

// Every layer in its own size, beside the same file and beside one whose layers are of other sizes.
TEST_F(MapsAlone, LayersThatDifferAreCompared) {
    open(mixed_maps(), mixed_tensors());
    const auto other = scratch_ / "other.safetensors";
    put_maps(other, maps_description(mixed_maps(), 9), mixed_tensors());
    CompareChoice& compare = ui().selection.compare;
    ASSERT_TRUE(compare.add({}) && compare.add({.path = other.string()}));
    run("view.workspace_compare\nclick compare/main/below=layers\nframes 5\n");
    const int64_t tokens[] = {4, 6, 5, 7, 8};
    for (int64_t layer = 0; layer < 5; ++layer) {
        SCOPED_TRACE(layer);
        ui().selection.cell = {.layer = layer};
        const std::string words = fmt::format("layer {0} {1}x{1}", layer, tokens[layer]);
        for (const char* const map : {"compare/main/map_0", "compare/main/map_1"})
            EXPECT_TRUE(until([&] { return value_of(map).find(words) != std::string::npos; }))
                << value_of(map);
        EXPECT_TRUE(until([&] { return is_there(fmt::format("compare/main/layers:l{}", layer)); }));
    }
    EXPECT_TRUE(until([&] { return !is_there("compare/main/progress"); }))
        << value_of("compare/main/progress");
}

TEST_F(MapsAlone, LayersAlikeKeepTheirLayout) {
    open(maps_of({map_entry("a", "kernel2d", {4, 4}, "none"),
                  map_entry("b", "kernel2d", {6, 6}, "none")}),
         {counted_tensor("biases.0", {2, 3, 3}), counted_tensor("biases.1", {4, 5, 5})});
    EXPECT_EQ(BiasForm(ui().status, 0).layout, BiasLayout::kernel_2d);
    EXPECT_EQ(BiasForm(ui().status, 0).first_offset, -1);
    EXPECT_EQ(BiasForm(ui().status, 1).columns, 5);
    EXPECT_EQ(BiasForm(ui().status).columns, 5);
    EXPECT_EQ(map_of(1, 3).shown.size(), 25u);
    run("view.workspace_biases\nframes 20\n");
    EXPECT_EQ(value_of("atlas/main/banner"), "");
}

TEST_F(MapsAlone, MasksAreHiddenCells) {
    std::vector<MapsTensor> tensors{counted_tensor("biases.0", {4, 4})};
    tensors[0].values[3] = -std::numeric_limits<float>::infinity();
    open(maps_of({map_entry("a", "full", {4})}), tensors);
    const BiasForm form(ui().status, 0);
    const BiasMap map = map_of(0, 0);
    ASSERT_EQ(map.hidden.size(), 16u);
    for (size_t i = 0; i < 16; ++i) EXPECT_EQ(map.hidden[i], i == 3 ? 1 : 0) << i;
    const MapStatistics numbers = bias_statistics(form, map, Quantity::w);
    EXPECT_EQ(numbers.count, 15);
    EXPECT_EQ(numbers.high, 0.25 + 15 * 0.125);
    EXPECT_TRUE(ui().status.not_finite.empty());
}

// A causal kernel that is stored with the target in its middle hides what comes after.
TEST(MapsForm, ACausalKernelHidesWhatComesAfter) {
    Status status;
    status.config = config_of_maps({.causal = true,
                                    .layers = {{.name = "a",
                                                .layout = BiasLayout::kernel_1d,
                                                .heads = 2,
                                                .has_heads = true,
                                                .taps = 5,
                                                .axes = 1,
                                                .width = 9}}});
    status.layers.resize(1);
    const BiasForm form(with_traits(status), 0);
    ASSERT_EQ(form.layout, BiasLayout::kernel_1d);
    EXPECT_EQ(form.first_offset, -2);
    for (int64_t tap = 0; tap < 5; ++tap) EXPECT_EQ(form.is_hidden(1, tap, {}), tap > 2) << tap;
}

TEST_F(MapsAlone, OtherWorkspacesSayWhatIsMissing) {
    open(plain_maps(), plain_tensors());
    for (const auto& [workspace, pane] :
         {std::pair{"attention", "attention"}, std::pair{"attention", "keys"},
          std::pair{"attention", "relative"}, std::pair{"complete", "samples"}}) {
        SCOPED_TRACE(pane);
        run(std::string("view.workspace_") + workspace + "\nframes 3\n");
        if (std::string(pane) != "samples")
            run(std::string("click ") + pane + "/main/tab\nframes 3\n");
        const std::string words = value_of(std::string(pane) + "/main/empty_state");
        EXPECT_NE(words.find("position biases alone"), std::string::npos) << words;
        EXPECT_EQ(value_of(std::string(pane) + "/main/banner"), "");
    }
    EXPECT_NE(ui().actions.why_not(ui(), "run.start"), "");
    EXPECT_NE(ui().actions.why_not(ui(), "complete.start"), "");
    EXPECT_FALSE(ui().status.can_train);
}

TEST_F(MapsAlone, ARunOfThemHasCurvesAndMoments) {
    initialize_model("cpu", 1);
    put_maps_run(scratch_ / "run");
    for (int64_t i = 0; i < 3; ++i) put_maps_step(scratch_ / "run", 10 * i, 0.25F);
    make();
    stage_->frame().open((scratch_ / "run").string());
    run("frames 2\nwait Ready\nframes 3\nview.workspace_train\nframes 5\n");
    EXPECT_EQ(ui().history, (std::vector<int64_t>{0, 10, 20}));
    EXPECT_EQ(ui().curves->step.size(), 3u);
    EXPECT_FALSE(is_there("curves/main/empty_state"));
    EXPECT_EQ(value_of("curves/main/banner"), "");
}

}  // namespace
}  // namespace aft::app
