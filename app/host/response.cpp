#include "app/host/response.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "app/frame/unsaved_steps.h"
#include "app/host/headless_run.h"
#include "app/host/window_headless.h"
#include "app/panels/lab/lab_actions.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/images/image.h"
#include "core/progress.h"
#include "core/rng.h"

namespace aft::app {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kWidth = 1280, kHeight = 800;
constexpr double kLongest_s = 60;        // for one input, and for opening a model
constexpr double kLongestRest_s = 0.05;  // without a frame
constexpr int kHovers = 40, kOthers = 10;

// One model in a window.
class MeasuredWindow {
  public:
    MeasuredWindow(const std::string& device, const JobControl& control)
        : stage_(options(device, woken_), kWidth, kHeight), control_(control) {}

    Ui& ui() { return stage_.ui(); }
    HeadlessStage& stage() { return stage_; }
    // Draws and reads frames until it is so. Milliseconds; below 0: it has not come.
    template <class Condition>
    double until(const Condition& is_so) {
        const auto start = Clock::now();
        do {
            if (control_.stop.stop_requested()) throw Interrupted();
            stage_.step();
            (void)stage_.picture();
            if (is_so()) return 1000 * seconds_since(start);
            wait();
        } while (seconds_since(start) < kLongest_s);
        return -1;
    }
    void rest() {  // until all that is shown is there, and some frames more
        int calm = 0;
        (void)until([&] {
            calm = is_reading(ui().recorder.last()) ? 0 : calm + 1;
            return calm >= 30;
        });
    }
    void act(const char* action) {
        ui().actions.run(ui(), action);
        rest();
    }
    void show(const char* pane) {
        ui().commands.send(ShowPane{pane});
        rest();
    }
    [[nodiscard]] bool is_read() { return !is_reading(ui().recorder.last()); }

  private:
    static FrameOptions options(const std::string& device, std::atomic<bool>& woken) {
        FrameOptions out;
        out.device = device;
        out.wake = [&woken] { woken = true; };
        return out;
    }
    // As the window on a screen: what nobody asks for is not drawn, and the cores are the worker's.
    void wait() {
        const auto start = Clock::now();
        while (ui().wanted.count == 0 && !woken_.exchange(false) &&
               seconds_since(start) < kLongestRest_s)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

    std::atomic<bool> woken_ = false;
    HeadlessStage stage_;
    const JobControl& control_;
};

// What the panes say of the cell under the pointer.
std::string read_out(const Ui& ui) {
    std::string words;
    for (const WidgetRecord& widget : ui.recorder.last())
        if (widget.kind == "line" && widget.path.id.starts_with("focus/")) words += widget.value;
    return words;
}

void add(ResponseRow& row, double ms) {
    if (ms < 0)
        row.note = fmt::format("not there after {:.0f} s", kLongest_s);
    else
        row.ms.push_back(ms);
}

ResponseRow hover(MeasuredWindow& window, int count) {
    ResponseRow row{
        .model = {}, .what = "hover to read-out", .budget_ms = 16, .ms = {}, .note = {}};
    window.act("view.workspace_biases");
    window.show("focus");
    CounterRng rng(1, 0);
    for (int i = 0; i < count && row.note.empty(); ++i) {
        const WidgetRecord* const map = window.ui().recorder.find("focus/main/map");
        if (map == nullptr) {
            row.note = "this model has no map";
            break;
        }
        const auto part = [&](float low, float high) {
            return low + float(0.02 + 0.46 * rng.uniform()) * (high - low);
        };
        // The lower left quarter: every target sees these sources.
        const ImVec2 at(part(map->min.x, map->max.x),
                        map->max.y - (part(map->min.y, map->max.y) - map->min.y));
        const std::string before = read_out(window.ui());
        ImGui::GetIO().AddMousePosEvent(at.x, at.y);
        add(row, window.until([&] { return read_out(window.ui()) != before; }));
    }
    ImGui::GetIO().AddMousePosEvent(-1, -1);
    window.rest();
    return row;
}

ResponseRow layers(MeasuredWindow& window, int count) {
    ResponseRow row{.model = {}, .what = "layer change", .budget_ms = 50, .ms = {}, .note = {}};
    const auto all = int64_t(window.ui().status.layers.size());
    for (int i = 0; i < count && all > 1 && row.note.empty(); ++i) {
        const int64_t before = window.ui().selection.cell.layer;
        const char* const action =
            before + 1 < all ? "selection.next_layer" : "selection.previous_layer";
        window.ui().actions.run(window.ui(), action);
        add(row, window.until([&] {
            return window.ui().selection.cell.layer != before && window.is_read();
        }));
    }
    if (all <= 1) row.note = "one layer";
    return row;
}

ResponseRow scrub(MeasuredWindow& window, int count) {
    ResponseRow row{.model = {}, .what = "scrub by a step", .budget_ms = 50, .ms = {}, .note = {}};
    for (int i = 0; i < count && row.note.empty(); ++i) {
        const int64_t before = window.ui().shown_step();
        const bool is_first = window.ui().history.empty() || before <= window.ui().history.front();
        window.ui().actions.run(window.ui(), is_first ? "time.live" : "time.back");
        add(row,
            window.until([&] { return window.ui().shown_step() != before && window.is_read(); }));
        if (window.ui().history.size() < 2) row.note = "one stored step";
    }
    window.act("time.live");
    return row;
}

// Until the change of the loss stands there with its standard error, and until it is that of the
// whole batch.
std::vector<ResponseRow> intervention(MeasuredWindow& window, int count) {
    ResponseRow row{
        .model = {}, .what = "intervention to loss", .budget_ms = 200, .ms = {}, .note = {}};
    ResponseRow whole = row;
    LabChoice& lab = window.ui().selection.lab;
    lab.examples = 8;
    window.ui().commands.send(ShowWorkspace{Workspace::lab});
    add_intervention(window.ui(), "zero");
    const auto until = [&](int64_t examples) {
        return window.until([&] {
            return lab.numbers.together &&
                   lab.numbers.together->count >= std::min(examples, lab.examples);
        });
    };
    if (until(lab.examples) < 0) row.note = "the loss cannot be measured: no data";
    whole.what = fmt::format("... of all {} examples", lab.examples);
    whole.budget_ms = 0;
    for (int i = 0; i < count && row.note.empty(); ++i) {
        lab.recipe.interventions.front().strength = double(i + 1) / (count + 1);
        lab.numbers.together.reset();
        add(row, until(2));
        if (row.note.empty()) add(whole, row.ms.back() + until(lab.examples));
    }
    whole.note = row.note;
    return {row, whole};
}

// The model of `cifar10-small` at a size, trained for four steps on noise.
OpenRequest noise_run(const fs::path& folder, int64_t side) {
    constexpr int kPictures = 160;
    const fs::path pictures = folder / "pictures";
    fs::create_directories(pictures);
    CounterRng rng(7, 0);
    for (int i = 0; i < kPictures; ++i) {
        Image noise{side, side, 3, std::vector<uint8_t>(size_t(side * side * 3))};
        for (uint8_t& value : noise.pixels) value = uint8_t(rng.below(256));
        write_png(pictures / fmt::format("{}.png", i), noise);
    }
    OpenRequest request;
    request.config = load_preset("cifar10-small");
    request.config->model.height = request.config->model.width = side;
    request.config->data.source = fmt::format("images:{}?size={}", pictures.string(), side);
    request.config->train.batch = 2;
    request.config->train.steps = 4;
    request.out = (folder / "run").string();
    return request;
}

std::vector<ResponseRow> rows_of(MeasuredWindow& window, const std::string& model, int divisor) {
    const int others = std::max(2, kOthers / divisor);
    std::vector<ResponseRow> rows = {hover(window, std::max(2, kHovers / divisor)),
                                     layers(window, others), scrub(window, others)};
    for (ResponseRow& row : intervention(window, others)) rows.push_back(std::move(row));
    for (ResponseRow& row : rows) row.model = model;
    return rows;
}

void open_run(MeasuredWindow& window, OpenRequest request) {
    const int64_t steps = request.config->train.steps;
    window.ui().commands.send(OpenRun{std::move(request)});
    (void)window.until([&] { return window.ui().has_model(); });
    window.ui().commands.send(StartTraining{});
    (void)window.until([&] {
        return window.ui().status.step >= steps && window.ui().status.state != RunState::running;
    });
    window.rest();
}

}  // namespace

std::vector<ResponseRow> measure_responses(const std::string& device, bool quick,
                                           const JobControl& control) {
    std::vector<ResponseRow> all;
    const auto measure = [&](const std::string& name, OpenRequest request) {
        MeasuredWindow window(device, control);
        open_run(window, std::move(request));
        const std::string model = fmt::format("{}, T = {}", name, window.ui().status.tokens);
        for (ResponseRow& row : rows_of(window, model, quick ? 10 : 1))
            all.push_back(std::move(row));
        fail_if_unsaved(window.stage().frame().end_sessions());
    };
    const TemporaryFolder folder;
    OpenRequest mirror;
    mirror.config = load_preset("demo-mirror");
    mirror.config->train.steps = 4;
    mirror.out = (folder / "mirror").string();
    measure("mirror", std::move(mirror));
    for (const int64_t side : {16, 32}) {
        if (quick) break;
        const fs::path own = folder / std::to_string(side);
        measure("cifar10-small", noise_run(own, side));
    }
    return all;
}

std::string response_words(const std::vector<ResponseRow>& rows) {
    std::string out = fmt::format(
        "Response of the window, {} x {}, frames drawn by OpenGL and read back, ms\n"
        "{:<28} {:<22} {:>8} {:>8} {:>8} {:>8}\n",
        kWidth, kHeight, "model", "input", "least", "median", "95 %", "budget");
    for (const ResponseRow& row : rows) {
        std::vector<double> sorted = row.ms;
        std::sort(sorted.begin(), sorted.end());
        if (sorted.empty()) {
            out += fmt::format("{:<28} {:<22} {}\n", row.model, row.what, row.note);
            continue;
        }
        const auto at = [&](double part) {
            return sorted[size_t(part * double(sorted.size() - 1) + 0.5)];
        };
        out += fmt::format("{:<28} {:<22} {:>8.1f} {:>8.1f} {:>8.1f} {:>8}{}\n", row.model,
                           row.what, at(0), at(0.5), at(0.95),
                           row.budget_ms > 0 ? fmt::format("{:.0f}", row.budget_ms) : "",
                           row.note.empty() ? "" : "  " + row.note);
    }
    return out;
}

}  // namespace aft::app
