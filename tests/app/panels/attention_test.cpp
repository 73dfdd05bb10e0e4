// Attention and Keys beyond single maps: prior shares of all layers, the picture below a map, texts
// as characters. What the pane says is what the model holds.
#include <cstdio>
#include <fstream>

#include "app/panels/attention/over_image.h"
#include "app/panels/shared/positions.h"
#include "core/text.h"
#include "tests/app/stage_fixture.h"
#include "tests/source_file.h"
#include "viz/text_map.h"

namespace aft::app {
namespace {

constexpr int64_t kLength = 96;

class AttentionPane : public BareTest {
  protected:
    void show_mirror(ImVec2 size = {1600, 1000}) {
        open_mirror(size);
        show();
    }
    // A model of bytes that has learnt for a few steps.
    void open_text() {
        initialize_model("cpu", 1);
        std::ofstream text(scratch_ / "plain.txt");
        for (int i = 0; i < 400; ++i)
            text << "Line " << i << " says:\nall's well that ends well, \xC3\xA9.\n";
        text.close();
        OpenRequest request;
        request.config = tiny_config();
        request.config->model.task = "text";
        request.config->model.mixer = "aft-local";
        request.config->model.own["window"] = 8;
        request.config->model.own["length"] = kLength;
        request.config->model.levels = 256;
        request.config->data.source = "text:" + (scratch_ / "plain.txt").string();
        request.out = (scratch_ / "text").string();
        make();
        ui().commands.send(OpenRun{std::move(request)});
        run("frames 2\nwait Ready\n");
        session().run().step(5);
        ASSERT_TRUE(until([&] { return ui().status.state == RunState::paused; }));
        show();
    }
    void show() {
        run("frames 2\nview.workspace_attention\nframes 4\n");
        ASSERT_TRUE(until([&] { return is_there("attention/main/both"); }));
    }
    ProbeRequest about(const std::string& name, int64_t layer = 0) {
        ProbeRequest request = probe(name, layer);
        request.position = ui().selection.cell.target;
        request.tokens = ui().selection.image.item->tokens;
        return request;
    }
    // The middle of a character of a text that is shown from its beginning.
    ImVec2 place_of(const std::string& map, int64_t byte) {
        const WidgetRecord* box = ui().recorder.find(map);
        EXPECT_NE(box, nullptr) << map;
        if (box == nullptr) return {};
        const ImVec2 cell = viz::text_cell(ui());
        const auto columns = int64_t((box->max.x - box->min.x) / cell.x);
        const viz::TextLayout layout =
            viz::lay_out_text(ui().selection.image.item->tokens, columns);
        const viz::MapCell at = layout.places[size_t(byte)];
        return {box->min.x + (float(at.column) + 0.5F) * cell.x,
                box->min.y + (float(at.row) + 0.5F) * cell.y};
    }
    void click(ImVec2 at) {
        ImGuiIO& io = ImGui::GetIO();
        io.AddMousePosEvent(at.x, at.y);
        steps(2);
        io.AddMouseButtonEvent(0, true);
        steps(1);
        io.AddMouseButtonEvent(0, false);
        steps(3);
    }
};

// In a small window the gallery has pages: every channel stands on one of them.
TEST_F(AttentionPane, EveryChannelCanBeReached) {
    show_mirror({1280, 800});
    const std::string shown = "attention/main/channels_shown";
    ASSERT_TRUE(until([&] { return is_there(shown); }));
    int64_t next = 1, last = 0, all = 0, pages = 0;
    for (; pages < 32; ++pages) {
        const std::string words = value_of(shown);  // "1 to 18 of 32, ..."
        int64_t first = 0;
        ASSERT_EQ(std::sscanf(words.c_str(), "%ld to %ld of %ld", &first, &last, &all), 3) << words;
        EXPECT_EQ(first, next) << words;
        EXPECT_GE(last, first);
        next = last + 1;
        if (last == all) break;
        run("click \"attention/main/more_channels\"\nframes 3\n");
    }
    EXPECT_EQ(all, 32);
    EXPECT_EQ(last, all);
    EXPECT_LE(pages, 2) << "as many as fit stand beside each other";
    EXPECT_NE(ui().recorder.find("attention/main/more_channels")->why_not, "");
    stage_->set_size({3200, 2000});  // from the last page into a window that has space for all
    steps(4);
    EXPECT_TRUE(value_of(shown).starts_with("1 to 32 of 32")) << value_of(shown);
}

// Maps too narrow for a meter beside their label show the number alone, and are not called bars.
TEST_F(AttentionPane, TheGallerySaysWhatItDraws) {
    const std::string shown = "attention/main/channels_shown";
    show_mirror();
    ASSERT_TRUE(until([&] { return is_there(shown); }));
    const auto says = [&](const char* words) {
        EXPECT_TRUE(value_of(shown).ends_with(words)) << value_of(shown);
    };
    says("; number: gate \u03C3(Q)");
    run("set attention/main/sort sharpness\nframes 3\n");
    says("; number: sharpness");
    run("set attention/main/sort divergence\nframes 3\n");
    says("; number: divergence in bits");
    run("set attention/main/sort gate\nframes 3\n");
    stage_->set_size({3200, 2000});
    steps(4);
    says("; bar and number: gate \u03C3(Q)");
    stage_->set_size({1280, 800});
    steps(4);
    says("; gate \u03C3(Q)");
    // Where the maps are too small for their numbers the Inspector has those of the chosen one.
    ui().selection.cell.channel = 0;
    steps(3);
    for (const char* const number : {"gate", "sharpness", "divergence"})
        EXPECT_TRUE(is_there(fmt::format("inspector/selection/{}", number))) << number;
}

// Where there is no gate nothing is sorted by it, and the choice says why.
TEST_F(AttentionPane, SoftmaxIsSortedBySharpnessAndSaysWhyNotByGate) {
    initialize_model("cpu", 1);
    OpenRequest request;
    request.config = tiny_config();
    request.config->model.mixer = "softmax";
    request.config->model.own["heads"] = 4;
    request.out = (scratch_ / "softmax").string();
    make();
    ui().commands.send(OpenRun{std::move(request)});
    run("frames 2\nwait Ready\n");
    show();
    const std::string sort = "attention/main/sort";
    ASSERT_TRUE(until([&] { return value_of(sort + "=sharpness") == "on"; })) << value_of(sort);
    steps(2);  // the tools above are drawn before the answer is taken
    const WidgetRecord* const gate = ui().recorder.find(sort + "=gate");
    ASSERT_NE(gate, nullptr);
    EXPECT_EQ(gate->why_not, "Softmax attention has no gate.");
    EXPECT_NE(ui().recorder.find(sort + "=divergence")->why_not, "");
    EXPECT_EQ(ui().recorder.find(sort + "=sharpness")->why_not, "");
    EXPECT_TRUE(value_of("attention/main/channels_shown").ends_with("sharpness"))
        << value_of("attention/main/channels_shown");
    steps(2);
    EXPECT_TRUE(label_of("attention/main/reduce").ends_with("/Heads"));
    EXPECT_EQ(value_of("attention/main/parts=content"), "on") << "opens on a part that it has";
    EXPECT_FALSE(is_there("attention/main/prior"));
    EXPECT_TRUE(until([&] { return is_there("attention/main/content"); }));
    run("click attention/main/parts=all\nframes 4\n");
    EXPECT_EQ(value_of("attention/main/prior"), "none: Softmax attention has no position bias");
    EXPECT_TRUE(until([&] { return !is_reading(ui().recorder.last()); })) << dump(ui());
    EXPECT_EQ(value_of("attention/main/reduce"), "Mean") << "without gates both means are one";
    run("view.workspace_biases\nframes 4\n");  // does not send anybody to keys that are not there
    const std::string empty = value_of("atlas/main/empty_state");
    EXPECT_NE(empty.find("Attention workspace"), std::string::npos) << empty;
    EXPECT_EQ(empty.find("keys"), std::string::npos) << empty;
    run("view.workspace_attention\nframes 4\n");
    // A model with gates is sorted by them again.
    stage_->frame().open(source_file("assets/demo/mirror.safetensors").string());
    EXPECT_TRUE(until([&] { return value_of(sort + "=gate") == "on"; })) << value_of(sort);
}

// What the row of tools cannot hold stands behind "More tools".
TEST_F(AttentionPane, NoToolVanishesInASmallWindow) {
    const std::string target = "attention/main/target_channel", more = "attention/main/more_tools";
    const std::string reduce = "attention/main/reduce";
    initialize_model("cpu", 1);
    make({}, {2400, 1400});
    stage_->frame().open(source_file("assets/demo/cifar10-small.safetensors").string());
    run("frames 2\nwait Ready\nview.workspace_attention\nframes 4\n");
    EXPECT_TRUE(is_there(target));
    EXPECT_TRUE(is_there(reduce));
    EXPECT_FALSE(is_there(more));
    for (const ImVec2 size : {ImVec2(1280, 800), ImVec2(1100, 700), ImVec2(800, 560)}) {
        stage_->set_size(size);
        steps(4);
        const auto look_for = [&](const std::string& tool) {
            if (!is_there(tool)) run("click \"" + more + "\"\nframes 4\n");
            EXPECT_TRUE(is_there(tool)) << tool << " " << size.x;
        };
        look_for(target);
        for (const char* const channel : {"b", "g"}) {
            run("click \"" + target + "=" + channel + "\"\nframes 2\n");
            const Positions positions(ui().status);
            EXPECT_EQ(positions.target(ui().selection.cell.target).channel, *channel == 'b' ? 2 : 1)
                << size.x;
        }
        look_for(reduce);
        run("set " + reduce + " mean\nframes 2\n");
        EXPECT_EQ(value_of(reduce), "Mean");
        run("key Esc\nframes 3\n");
    }
}

TEST_F(AttentionPane, BarsAreThePriorSharesOfAllLayersAndAClickGoesThere) {
    show_mirror();
    for (const char* const how : {"gate_mean", "mean", "chosen"}) {
        run(std::string("set \"attention/main/reduce\" ") + how + "\nframes 4\n");
        ProbeRequest request = about("priors");
        request.options = {{"reduce", *how == 'm' ? "mean" : "gate"}};
        if (*how == 'c') request.channel = ui().selection.cell.channel;
        const FieldSetPtr shares = ask(request);
        ASSERT_NE(shares, nullptr);
        const std::vector<float>& values = shares->fields[0].values;
        ASSERT_EQ(values.size(), ui().status.layers.size());
        EXPECT_NE(values[0], values[1]);
        for (size_t layer = 0; layer < values.size(); ++layer) {
            const std::string label = fmt::format("inspector/layers/layer_{}", layer);
            const std::string wanted = plain_number(100 * double(values[layer]), 1) + " %";
            EXPECT_TRUE(until([&] { return value_of(label) == wanted; }))
                << how << ": " << value_of(label) << ", wanted " << wanted;
        }
    }
    for (const int64_t layer : {1, 0}) {
        run(fmt::format("click \"inspector/layers/layer_{}\"\nframes 3\n", layer));
        EXPECT_EQ(ui().selection.cell.layer, layer);
    }
}

TEST_F(AttentionPane, BarsFollowTheTargetWhenItRests) {
    show_mirror();
    ASSERT_TRUE(until([&] { return is_there("inspector/layers/layer_1"); }));
    for (const int64_t target : {255, 130}) {
        ui().selection.cell.target = target;
        const FieldSetPtr shares = ask(about("priors"));
        ASSERT_NE(shares, nullptr);
        const std::string wanted = plain_number(100 * double(shares->fields[0].values[1]), 1);
        EXPECT_TRUE(until([&] { return value_of("inspector/layers/layer_1") == wanted + " %"; }))
            << value_of("inspector/layers/layer_1") << ", wanted " << wanted;
    }
}

TEST_F(AttentionPane, OverImageSaysSoAndTakesItsOpacity) {
    show_mirror();
    ASSERT_TRUE(until([&] { return is_there("inspector/layers/layer_1"); }));
    EXPECT_EQ(value_of("attention/main/caption").find("grey picture"), std::string::npos);
    const WidgetRecord* opacity = ui().recorder.find("inspector/display/opacity");
    ASSERT_NE(opacity, nullptr);
    EXPECT_NE(opacity->why_not, "");
    run("click \"inspector/display/over_image\"\nframes 3\n");
    EXPECT_TRUE(ui().settings.attention.over_image);
    run("set inspector/display/opacity 35\nframes 3\n");
    EXPECT_EQ(ui().settings.attention.opacity, 35);
    EXPECT_NE(value_of("attention/main/caption").find("over the grey picture, 35 %"),
              std::string::npos)
        << value_of("attention/main/caption");
}

TEST(OverImage, IsGreyAndOnlyWhereTheMapHasValues) {
    const std::vector<uint8_t> tokens = {255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9};
    Folded map{.rows = 2, .columns = 2, .values = {1, 1, 1, 0}, .hidden = {0, 0, 0, 1}};
    const Image image =
        image_under({.tokens = tokens, .height = 2, .width = 2, .channels = 3}, map);
    ASSERT_EQ(image.pixels.size(), 16u);
    const int greys[] = {76, 150, 29, 9};
    for (size_t i = 0; i < 4; ++i) {
        for (size_t c = 0; c < 3; ++c) EXPECT_EQ(image.pixels[4 * i + c], greys[i]);
        EXPECT_EQ(image.pixels[4 * i + 3], i < 3 ? 255 : 0);
    }
    // Patches: one cell of the map stands for several pixels.
    const std::vector<uint8_t> large(16, 7);
    const Image patches =
        image_under({.tokens = large, .height = 4, .width = 4, .channels = 1}, map);
    EXPECT_EQ(patches.pixels[(1 * 4 + 3) * 4 + 3], 255);
    EXPECT_EQ(patches.pixels[(2 * 4 + 2) * 4 + 3], 0);
}

TEST_F(AttentionPane, ATextReadsSharesByCharacterAndAClickSetsTheTarget) {
    open_text();
    const std::string map = "attention/main/both";
    for (const int64_t target : {70, 40}) {
        click(place_of(map, target));
        ASSERT_EQ(ui().selection.cell.target, target);
        run("key Esc\nframes 2\n");
        const FieldSetPtr both = ask([&] {
            ProbeRequest request = about("attention");
            request.options = {{"part", "both"}, {"reduce", "gate"}};
            return request;
        }());
        ASSERT_NE(both, nullptr);
        for (const int64_t byte : {int64_t{0}, int64_t{17}, target - 1}) {
            const ImVec2 at = place_of(map, byte);
            ImGui::GetIO().AddMousePosEvent(at.x, at.y);
            const uint8_t value = ui().selection.image.item->tokens[size_t(byte)];
            const double share = both->fields[0].values[size_t(byte + 1)];
            const std::string wanted =
                fmt::format("source {} {}  share {} %", byte, viz::byte_words(value),
                            plain_number(100 * share, 3));
            EXPECT_TRUE(until([&] {
                return value_of("attention/main/hover_line").find(wanted) != std::string::npos;
            })) << value_of("attention/main/hover_line")
                << ", wanted " << wanted;
            EXPECT_EQ(ui().selection.cell.target, target) << "hovering only reads";
        }
        const ImVec2 hidden = place_of(map, target + 3);
        ImGui::GetIO().AddMousePosEvent(hidden.x, hidden.y);
        EXPECT_TRUE(until([&] {
            return value_of("attention/main/hover_line").find("share not visible") !=
                   std::string::npos;
        }));
    }
}

// What a model of texts shows does not speak of pictures, but where it says that there are none.
TEST_F(AttentionPane, ATextIsNotCalledAPicture) {
    open_text();
    for (const char* const workspace : {"train", "biases", "attention", "complete"}) {
        run(std::string("view.workspace_") + workspace + "\nframes 20\n");
        for (const WidgetRecord& w : ui().recorder.last()) {
            const std::string all = w.path.label + " | " + w.value + " | " + w.why_not;
            if (w.path.id.ends_with("/over_image") || w.why_not == "A text has no picture.")
                continue;
            for (const char* const word : {"picture", "Picture", "pixel", "image", "Image"})
                EXPECT_EQ(all.find(word), std::string::npos) << workspace << ": " << w.kind << all;
        }
    }
    run("view.workspace_attention\nframes 4\n");
    EXPECT_TRUE(label_of("attention/main/next").ends_with("/Next text"));
    run("view.workspace_complete\nframes 4\n");
}

TEST_F(AttentionPane, KeysOfATextReadTheKeyUnderTheCharacter) {
    open_text();
    run("click keys/main/tab\nframes 4\n");
    ASSERT_TRUE(until([&] { return is_there("keys/main/text"); }));
    const FieldSetPtr keys = ask(about("keys", 0));
    ASSERT_NE(keys, nullptr);
    for (const int64_t byte : {0, 33, 94}) {
        const ImVec2 at = place_of("keys/main/text", byte);
        ImGui::GetIO().AddMousePosEvent(at.x, at.y);
        steps(3);
        ASSERT_TRUE(until([&] {
            return value_of("keys/main/hover_line").find(fmt::format("byte {} ", byte)) !=
                   std::string::npos;
        })) << value_of("keys/main/hover_line");
        const std::string line = value_of("keys/main/hover_line");
        const int64_t channel = std::stoll(line.substr(line.find("channel ") + 8));
        const float value = keys->fields[0].values[size_t(channel * kLength + byte + 1)];
        EXPECT_NE(line.find("exp(K) / mean " + stored_value(value)), std::string::npos)
            << line << ", wanted " << stored_value(value);
    }
}

}  // namespace
}  // namespace aft::app
