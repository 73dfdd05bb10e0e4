#include "tests/app/ui_driver.h"

#include <gtest/gtest.h>
#include <imgui_internal.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>

// Sanitizers end the program by themselves; this is how they tell.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*call)());

namespace aft::app {

namespace {

constexpr unsigned kFrameHangs_s = 120;

bool is_sanitized() {
    return __sanitizer_set_death_callback != nullptr;
}

// Processor time: other programs on the machine do not count.
double thread_ms() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// Plain memory: it is printed from signal handlers.
constexpr size_t kLines = 30, kLine = 200;
struct Trace {
    char lines[kLines][kLine] = {};
    size_t count = 0;
    unsigned long long seed = 0;
};
Trace trace;

void print(const char* words) {
    const auto ignored = write(STDERR_FILENO, words, std::strlen(words));
    (void)ignored;
}

void print_trace() {
    char head[80];
    std::snprintf(head, sizeof head, "\nseed %llu, last actions:\n", trace.seed);
    print(head);
    const size_t first = trace.count > kLines ? trace.count - kLines : 0;
    for (size_t i = first; i < trace.count; ++i) {
        print("  ");
        print(trace.lines[i % kLines]);
        print("\n");
    }
}

void on_signal(int number) {
    print(number == SIGALRM ? "\na frame does not end\n" : "");
    print_trace();
    std::signal(number, SIG_DFL);
    std::raise(number == SIGALRM ? SIGABRT : number);
}

void watch(bool on) {
    for (const int number : {SIGABRT, SIGALRM}) std::signal(number, on ? on_signal : SIG_DFL);
    if (is_sanitized())
        __sanitizer_set_death_callback(on ? print_trace : nullptr);
    else
        std::signal(SIGSEGV, on ? on_signal : SIG_DFL);
}

}  // namespace

std::string last_actions() {
    std::string out = fmt::format("seed {}, last actions:", trace.seed);
    const size_t first = trace.count > kLines ? trace.count - kLines : 0;
    for (size_t i = first; i < trace.count; ++i)
        out += std::string("\n  ") + trace.lines[i % kLines];
    return out;
}

UiDriver::UiDriver(std::unique_ptr<BareStage>& stage, uint64_t seed) : stage_(stage) {
    trace.count = 0;
    trace.seed = seed;
    watch(true);
}

UiDriver::~UiDriver() {
    watch(false);
}

void UiDriver::did(const std::string& what) {
    std::snprintf(trace.lines[trace.count++ % kLines], kLine, "%s", what.c_str());
}

void UiDriver::step(int count) {
    for (int i = 0; i < count; ++i) {
        const double start = thread_ms();
        alarm(kFrameHangs_s);
        stage_->step();
        alarm(0);
        const double ms = thread_ms() - start;
        if (ms > longest_ms) {
            longest_ms = ms;
            longest_after = trace.count == 0 ? "" : trace.lines[(trace.count - 1) % kLines];
        }
        ++frames;
        for (const WidgetRecord& w : ui().recorder.last())
            if (!w.path.has_id)
                ADD_FAILURE() << "no id is given to " << w.path.label << "; " << last_actions();
        const ImGuiContext& g = *ImGui::GetCurrentContext();
        if (g.HoveredIdPreviousFrameItemCount > 1) {
            std::string names;
            for (const WidgetRecord& w : ui().recorder.last())
                if (w.item == g.HoveredIdPreviousFrame) names += " " + w.path.id;
            ADD_FAILURE() << "two items have the same ID:" << names << "; " << last_actions();
        }
        after_frame();
    }
}

WidgetRecord UiDriver::find(const std::string& id) const {
    for (const WidgetRecord& w : stage_->ui().recorder.last())
        if (w.path.id == id) return w;
    return {};
}

bool UiDriver::press(const WidgetRecord& widget, ImVec2 at, int times, int button) {
    ImGuiIO& io = ImGui::GetIO();
    io.AddMousePosEvent(at.x, at.y);
    step(1);
    bool is_hit = false;
    for (int i = 0; i < times; ++i) {
        io.AddMouseButtonEvent(button, true);
        step(1);
        const ImGuiContext& g = *ImGui::GetCurrentContext();
        const ImGuiID under = g.ActiveId != 0 ? g.ActiveId : g.HoveredId;
        const bool in_window = g.HoveredWindow != nullptr && g.HoveredWindow->ID == widget.window;
        is_hit = is_hit || (widget.item != 0 ? under == widget.item
                                             : under != 0 && (in_window || widget.kind == "tab"));
        io.AddMouseButtonEvent(button, false);
        step(1);
    }
    step(2);  // a field takes the keyboard one frame later
    return is_hit;
}

void UiDriver::drag(ImVec2 from, ImVec2 to, bool with_shift) {
    ImGuiIO& io = ImGui::GetIO();
    if (with_shift) io.AddKeyEvent(ImGuiMod_Shift, true);
    io.AddMousePosEvent(from.x, from.y);
    step(2);
    io.AddMouseButtonEvent(0, true);
    step(1);
    for (const float share : {0.3f, 0.7f, 1.0f}) {
        io.AddMousePosEvent(from.x + share * (to.x - from.x), from.y + share * (to.y - from.y));
        step(1);
    }
    io.AddMouseButtonEvent(0, false);
    if (with_shift) io.AddKeyEvent(ImGuiMod_Shift, false);
    step(2);
}

void UiDriver::wheel(ImVec2 at, float turns) {
    ImGui::GetIO().AddMousePosEvent(at.x, at.y);
    step(2);
    ImGui::GetIO().AddMouseWheelEvent(0, turns);
    step(2);
}

void UiDriver::type(const std::string& words) {
    key("Ctrl+A");
    if (words.empty()) key("Delete");
    ImGui::GetIO().AddInputCharactersUTF8(words.c_str());
    step(2);
}

void UiDriver::key(const std::string& keys) {
    const int chord = key_chord(keys);
    ASSERT_NE(chord, 0) << keys;
    ImGuiIO& io = ImGui::GetIO();
    const auto send = [&](bool down) {
        for (const ImGuiKey mod : {ImGuiMod_Ctrl, ImGuiMod_Shift, ImGuiMod_Alt})
            if ((chord & mod) != 0) io.AddKeyEvent(mod, down);
        io.AddKeyEvent(static_cast<ImGuiKey>(chord & ~ImGuiMod_Mask_), down);
        step(1);
    };
    send(true);
    send(false);
    step(1);
}

}  // namespace aft::app
