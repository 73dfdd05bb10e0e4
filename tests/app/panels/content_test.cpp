// What the panes say about a cell is what the model holds there: biases, attention, keys, and the
// distribution at a clicked sub-pixel, each read off the screen and asked for a second time.
#include <functional>
#include <numbers>
#include <optional>
#include <regex>

#include "app/panels/biases/bias_tools.h"
#include "core/images/image.h"
#include "core/text.h"
#include "tests/app/stage_fixture.h"
#include "tests/source_file.h"

namespace aft::app {
namespace {

constexpr int64_t kSide = 16, kTokens = kSide * kSide;  // of the shipped mirror model

struct DumpedMap {
    int64_t row = 0, column = 0;
};

class Content : public BareTest {
  protected:
    void SetUp() override {
        open_mirror();
        ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    }
    // The shipped model of colour pictures, on a picture whose every pixel is another one.
    void open_color() {
        Image image{kSide, kSide, 3, {}};
        for (int64_t i = 0; i < kTokens * 3; ++i) image.pixels.push_back(uint8_t(i * 37 % 251));
        const std::string path = (scratch_ / "colors.png").string();
        write_png(path, image);
        stage_->frame().open(source_file("assets/demo/cifar10-small.safetensors").string());
        ASSERT_TRUE(until([&] { return ui().status.name == "cifar10-small"; }));
        run("frames 2\nwait Ready\n");
        stage_->frame().open(path);
        ASSERT_TRUE(until([&] {
            const ImageChoice& now = ui().selection.image;
            return now.item && now.path.ends_with("colors.png") &&
                   now.item->tokens.size() == kTokens * 3;
        }));
    }
    // Draws frames until a widget has stood at its place for a while.
    void settle(const std::string& label) {
        ImVec2 place(-1, -1);
        int still = 0;
        EXPECT_TRUE(until([&] {
            const WidgetRecord* widget = ui().recorder.find(label);
            const ImVec2 now = widget == nullptr ? ImVec2(-1, -1) : widget->min;
            still = now.x == place.x && now.y == place.y ? still + 1 : 0;
            place = now;
            return widget != nullptr && still >= 30;
        })) << label;
    }
    // Points at small maps below the large ones until such a cell is under the pointer.
    bool point_at_small_map(ImVec2 from, const std::function<bool(const Cell&)>& is_such) {
        const WidgetRecord* head = ui().recorder.find("attention/main/channels_shown");
        EXPECT_NE(head, nullptr);
        if (head == nullptr) return false;
        const ImVec2 low(head->min.x + from.x, head->max.y + from.y);
        for (int i = 0; i < 40 * 60; ++i) {
            const auto line = float(i / 60), column = float(i % 60);
            ImGui::GetIO().AddMousePosEvent(low.x + 3 * column, low.y + 3 * line);
            steps(1);
            const std::optional<Cell> found = ui().selection.hover;
            if (!found || found->channel < 0 || found->source <= 0 || !is_such(*found)) continue;
            steps(3);  // what still comes may move the maps under the pointer
            const std::optional<Cell> still = ui().selection.hover;
            if (still && still->channel == found->channel && still->source == found->source)
                return true;
        }
        return false;
    }
    // Points at (row, column) of a map of so many values a side, and waits until `line` has
    // `words`.
    bool point(const std::string& map, DumpedMap at, const std::string& line,
               const std::string& words) {
        const WidgetRecord* box = ui().recorder.find(map);
        EXPECT_NE(box, nullptr) << map;
        if (box == nullptr) return false;
        const float zoom = (box->max.x - box->min.x) / float(map_side_);
        ImGui::GetIO().AddMousePosEvent(box->min.x + (float(at.column) + 0.5F) * zoom,
                                        box->min.y + (float(at.row) + 0.5F) * zoom);
        steps(3);
        return until([&] { return value_of(line).find(words) != std::string::npos; });
    }
    void click(const std::string& map, int64_t row, int64_t column) {
        const WidgetRecord* box = ui().recorder.find(map);
        ASSERT_NE(box, nullptr) << map;
        const float zoom = (box->max.x - box->min.x) / float(map_side_);
        ImGuiIO& io = ImGui::GetIO();
        io.AddMousePosEvent(box->min.x + (float(column) + 0.5F) * zoom,
                            box->min.y + (float(row) + 0.5F) * zoom);
        steps(2);
        io.AddMouseButtonEvent(0, true);
        steps(1);
        io.AddMouseButtonEvent(0, false);
        steps(3);
    }
    // The number behind a name in a line: "share 1.234 %" -> 1.234.
    static double number_after(const std::string& line, const std::string& name) {
        std::smatch found;
        const std::string plain = std::regex_replace(line, std::regex("\u2212"), "-");
        if (!std::regex_search(plain, found, std::regex(name + " ([-+0-9.e]+)")))
            return std::nan("");
        return std::stod(found[1]);
    }
    int64_t map_side_ = kTokens;
};

std::string cell_in_line(int64_t target, int64_t source) {
    const auto place = [](int64_t i) { return fmt::format("({}, {})", i / kSide, i % kSide); };
    return fmt::format("t {} {}  t\u2032 {} {}  ", target, place(target), source,
                       source == 0 ? "(start)" : place(source - 1));
}

TEST_F(Content, AtlasReadsTheStoredBiasInEveryQuantityAndGauge) {
    run("view.workspace_biases\nframes 3\nwait drawn\n");
    const std::pair<int64_t, int64_t> cells[] = {{200, 13}, {255, 0}, {17, 17}, {128, 128}};
    for (const char* gauge : {"raw", "fixed"})
        for (const Quantity quantity : kQuantities) {
            const std::string words = quantity_words(quantity);
            run("set atlas/main/gauge " + std::string(gauge) + "\nset atlas/main/quantity " +
                quantity_option(quantity) + "\n");
            for (const int64_t layer : {0, 1}) {
                ProbeRequest request = probe("bias", layer);
                request.options = {{"quantity", quantity_option(quantity)}, {"gauge", gauge}};
                const FieldSetPtr stored = ask(request);
                ASSERT_NE(stored, nullptr);
                for (const auto& [target, source] : cells) {
                    const float value = stored->fields[0].values[size_t(target * kTokens + source)];
                    const std::string shown = words + " " + shown_value(quantity, value);
                    EXPECT_TRUE(point(fmt::format("atlas/main/layer_{}", layer), {target, source},
                                      "atlas/main/hover_line",
                                      cell_in_line(target, source) + shown))
                        << gauge << ", wanted " << shown << ", line "
                        << value_of("atlas/main/hover_line");
                    if (quantity != Quantity::exp_minus_one && quantity != Quantity::exp) continue;
                    request.options["quantity"] = "w";
                    const FieldSetPtr in_w = ask(request);
                    ASSERT_NE(in_w, nullptr);
                    const float w = in_w->fields[0].values[size_t(target * kTokens + source)];
                    EXPECT_NE(value_of("atlas/main/hover_line")
                                  .find("  w " + shown_value(Quantity::w, w) + "  "),
                              std::string::npos)
                        << value_of("atlas/main/hover_line") << ", wanted " << w;
                }
            }
        }
}

TEST_F(Content, FocusFoldsTheStoredRowBackIntoThePicture) {
    run("view.workspace_biases\nframes 3\nwait drawn\n");
    click("atlas/main/layer_1", 200, 13);
    run("key M\nframes 4\nwait focus/look/row_channel_0\n");
    ProbeRequest request = probe("bias", 1);
    request.options = {{"quantity", "exp-1"}, {"gauge", "fixed"}};
    const FieldSetPtr stored = ask(request);
    map_side_ = kSide;
    ImGui::GetIO().AddMousePosEvent(2, 2);  // or the row under the pointer is folded
    const WidgetRecord* fold = ui().recorder.find("focus/look/row_channel_0");
    ASSERT_NE(fold, nullptr);
    const std::string label = fold->path.id;
    ASSERT_TRUE(until([&] { return value_of(label).starts_with("200 "); })) << value_of(label);
    std::string line;  // whatever section it stands in
    for (const WidgetRecord& w : ui().recorder.last())
        if (w.kind == "line" && w.path.id.starts_with("focus/")) line = w.path.id;
    for (const int64_t pixel : {0, 12, 55, 199}) {
        const int64_t source = pixel + 1;
        const float value = stored->fields[0].values[size_t(200 * kTokens + source)];
        EXPECT_TRUE(point(label, {pixel / kSide, pixel % kSide}, line,
                          cell_in_line(200, source) + quantity_words(Quantity::exp_minus_one) +
                              " " + shown_value(Quantity::exp_minus_one, value)))
            << value_of(line);
    }
}

// Shares of the sources for one target, reduced over channels as the pane is asked to.
std::vector<double> reduced(const FieldSet& set, const std::string& how, int64_t channel) {
    const Field& all = set.fields.front();
    const Field* gate = set.find("gate");
    const int64_t tokens = all.shape[1];
    std::vector<double> out(size_t(tokens), 0);
    double weight = 0;
    for (int64_t c = 0; c < all.shape[0]; ++c) {
        const double w = how == "gate_mean" ? double(gate->values[size_t(c)])
                         : how == "mean"    ? 1.0
                                            : double(c == channel);
        weight += w;
        for (int64_t j = 0; j < tokens; ++j)
            out[size_t(j)] += w * all.values[size_t(c * tokens + j)];
    }
    for (double& share : out) share /= weight;
    return out;
}

TEST_F(Content, AttentionReadsTheSharesOfTheModel) {
    run("view.workspace_attention\nframes 3\nset \"attention/main/parts\" all\n"
        "wait attention/main/both\n");
    map_side_ = kSide;
    const int64_t target = 12 * kSide + 5, channel = 3;
    click("attention/main/sample", 12, 5);
    run("key Esc\n");
    ui().selection.cell.channel = channel;
    ProbeRequest request = probe("attention");
    request.position = target;
    request.tokens = ui().selection.image.item->tokens;
    request.options = {{"part", "both"}};
    const FieldSetPtr both = ask(request);
    ASSERT_NE(both, nullptr);
    for (const std::string how : {"gate_mean", "mean", "chosen"}) {
        run("set \"attention/main/reduce\" " + how + "\nframes 4\n");
        const std::vector<double> shares = reduced(*both, how, channel);
        double sum = 0;
        for (int64_t j = 0; j <= target; ++j) sum += shares[size_t(j)];
        EXPECT_NEAR(sum, 1, 1e-4) << how;
        for (const char* part : {"prior", "content"}) {
            request.options = {{"part", part}, {"reduce", how == "mean" ? "mean" : "gate"}};
            request.channel = -1;
            if (how == "chosen") request.options["reduce"] = "none", request.channel = channel;
            const FieldSetPtr one = ask(request);
            ASSERT_NE(one, nullptr);
            for (const int64_t pixel : {int64_t{3}, int64_t{58}, target - 1}) {
                const auto j = size_t(pixel + 1);
                ASSERT_TRUE(point("attention/main/both", {pixel / kSide, pixel % kSide},
                                  "attention/main/hover_line",
                                  fmt::format("source ({}, {})", pixel / kSide, pixel % kSide)));
                ASSERT_TRUE(until([&] {
                    const std::string line = value_of("attention/main/hover_line");
                    return std::abs(number_after(line, "share") - 100 * shares[j]) < 6e-4 &&
                           std::abs(number_after(line, part) -
                                    100 * double(one->fields[0].values[j])) < 6e-4;
                })) << how
                    << ", source " << j << ": " << value_of("attention/main/hover_line")
                    << "; wanted share " << 100 * shares[j] << ", " << part << " "
                    << 100 * one->fields[0].values[j];
            }
        }
    }
    EXPECT_TRUE(
        point("attention/main/both", {13, 9}, "attention/main/hover_line", "share not visible"));
}

// The share of a pixel of a colour picture for a target: its visible channels together.
double pixel_share(const std::vector<double>& shares, int64_t pixel, int64_t target) {
    double sum = 0;
    for (int64_t j = 3 * pixel + 1; j <= std::min(3 * pixel + 3, target); ++j)
        sum += shares[size_t(j)];
    return sum;
}

TEST_F(Content, AttentionReadsTheDrawnPixelOfAColorModel) {
    open_color();
    run("view.workspace_attention\nframes 3\nset \"attention/main/parts\" all\n"
        "wait attention/main/both\n");
    map_side_ = kSide;
    const int64_t place = 12 * kSide + 5, target = 3 * place + 1;  // its green
    const std::string map = "attention/main/both";
    const std::string line = "attention/main/hover_line";
    ASSERT_TRUE(point(map, {3, 5}, line, "source (3, 5)"));
    ui().selection.cell.target = target;
    ProbeRequest request = probe("attention");
    request.position = target;
    request.tokens = ui().selection.image.item->tokens;
    const FieldSetPtr both = ask(request);
    ASSERT_NE(both, nullptr);
    const std::vector<double> shares = reduced(*both, "gate_mean", -1);
    EXPECT_NE(value_of("attention/main/caption").find("a pixel's channels summed"),
              std::string::npos)
        << value_of("attention/main/caption");
    for (const char* part : {"prior", "content"}) {
        request.options = {{"part", part}, {"reduce", "gate"}};
        const FieldSetPtr one = ask(request);
        ASSERT_NE(one, nullptr);
        const std::vector<double> row(one->fields[0].values.begin(), one->fields[0].values.end());
        for (const int64_t pixel : {3 * kSide + 5, place - 1, place}) {
            const std::string words = fmt::format("({}, {})", pixel / kSide, pixel % kSide);
            const double share = 100 * pixel_share(shares, pixel, target);
            const double part_share = 100 * pixel_share(row, pixel, target);
            const double red = 100 * shares[size_t(3 * pixel + 1)];
            EXPECT_EQ(std::abs(share - red) > 2e-3, pixel != place) << "or nothing is tested";
            ASSERT_TRUE(point(map, {pixel / kSide, pixel % kSide}, line, "source " + words + "  "));
            ASSERT_TRUE(until([&] {
                return std::abs(number_after(value_of(line), "share") - share) < 6e-4 &&
                       std::abs(number_after(value_of(line), part) - part_share) < 6e-4;
            })) << value_of(line)
                << "; wanted share " << share << ", " << part << " " << part_share;
            EXPECT_EQ(value_of("inspector/selection/source"), words);
            EXPECT_NEAR(std::stod(value_of("inspector/selection/share")), share, 6e-4);
        }
    }
}

TEST_F(Content, ASmallAttentionMapReadsItsOwnChannel) {
    for (const bool color : {false, true}) {
        if (color) open_color();
        const int64_t channels = color ? 3 : 1;
        run("view.workspace_attention\nframes 3\nwait attention/main/both\n");
        ASSERT_TRUE(until([&] { return is_there("attention/main/channels_shown"); }));
        const std::string line = "attention/main/hover_line";
        ProbeRequest request = probe("attention");
        request.position = (12 * kSide + 5) * channels;
        request.tokens = ui().selection.image.item->tokens;
        ui().selection.cell.target = request.position;
        const FieldSetPtr both = ask(request);
        ASSERT_NE(both, nullptr);
        settle("attention/main/channels_shown");
        const auto share = [&](const std::string& how, const Cell& cell) {
            const std::vector<double> row = reduced(*both, how, cell.channel);
            return 100 * (color ? pixel_share(row, (cell.source - 1) / 3, request.position)
                                : row[size_t(cell.source)]);
        };
        for (const ImVec2 from : {ImVec2(0, 10), ImVec2(500, 10)}) {
            ASSERT_TRUE(point_at_small_map(from, [&](const Cell& cell) {
                return std::abs(share("chosen", cell) - share("gate_mean", cell)) > 2e-3;
            }));
            const Cell cell = *ui().selection.hover;
            const double own = share("chosen", cell);
            const double mean = share("gate_mean", cell);
            const std::string name = fmt::format("channel {}  share", cell.channel);
            EXPECT_TRUE(until([&] {
                return std::abs(number_after(value_of(line), name) - own) < 6e-4;
            })) << value_of(line)
                << "; wanted " << own << " and not " << mean;
            EXPECT_NEAR(std::stod(value_of("inspector/selection/share")), own, 6e-4);
            // Locked and left, it stands behind the mean that the large map shows.
            ui().selection.lock(cell);
            ImGui::GetIO().AddMousePosEvent(2, 2);
            steps(3);
            EXPECT_NEAR(number_after(value_of(line), "share"), mean, 6e-4) << value_of(line);
            EXPECT_NEAR(number_after(value_of(line), "its share"), own, 6e-4) << value_of(line);
            EXPECT_TRUE(value_of("inspector/selection/share").ends_with("% (mean)"));
            run("key Esc\n");
        }
    }
}

TEST_F(Content, KeysReadTheKeyFeaturesOfTheModel) {
    run("view.workspace_attention\nframes 3\nclick keys/main/tab\nframes 3\nwait "
        "keys/main/key_maps "
        "30\n");
    ProbeRequest request = probe("keys", 1);
    request.tokens = ui().selection.image.item->tokens;
    for (const bool log : {false, true}) {
        run(std::string("set \"keys/main/quantity\" ") + (log ? "log_exp" : "exp") +
            "\nframes 4\n");
        request.options = {{"quantity", log ? "k" : "exp"}};
        const FieldSetPtr keys = ask(request);
        ASSERT_NE(keys, nullptr);
        ui().selection.cell.layer = 1;
        const std::string name = log ? "log " : "exp(K) / mean ";
        for (const int64_t pixel : {0, 100, 254}) {
            ui().selection.cell.source = pixel + 1;
            ASSERT_TRUE(until([&] {
                return value_of("keys/main/hover_line").find("layer 1  channel ") == 0;
            })) << value_of("keys/main/hover_line");
            const auto channel = std::stoll(value_of("keys/main/hover_line").substr(17));
            const float value = keys->fields[0].values[size_t(channel * kTokens + pixel + 1)];
            EXPECT_TRUE(until([&] {
                const std::string line = value_of("keys/main/hover_line");
                return line.find(name + stored_value(value) + "  ") != std::string::npos;
            })) << value_of("keys/main/hover_line")
                << ", wanted " << stored_value(value);
        }
    }
}

}  // namespace
}  // namespace aft::app
