#include "app/host/script.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "core/clock.h"
#include "core/files.h"
#include "core/outside.h"
#include "core/text.h"

namespace aft::app {

namespace {

constexpr int kSettleFrames = 3;      // a popup needs two, a dock layout one more
constexpr int kPatience = 120;        // frames in which a widget may appear
constexpr double kWaitSeconds = 120;  // of `wait` without a number, and while something is read
constexpr double kSoon_s = 0.15;      // between two looks of a pane at what a thread reads

std::string trimmed(std::string text) {
    const size_t from = text.find_first_not_of(" \t\r");
    if (from == std::string::npos) return {};
    return text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

// "a b c" -> "a b", "c"
std::pair<std::string, std::string> last_word(const std::string& text) {
    const size_t blank = text.find_last_of(' ');
    if (blank == std::string::npos) return {text, {}};
    return {trimmed(text.substr(0, blank)), text.substr(blank + 1)};
}

// "Controls/Optimiser/Target step" 400, or controls/optimiser/target_step 400: a label with blanks
// ends at the last blank, or stands in quotes.
std::pair<std::string, std::string> label_and_rest(const std::string& text) {
    if (text.starts_with('"')) {
        const size_t end = text.find('"', 1);
        if (end == std::string::npos) return {text.substr(1), {}};
        return {text.substr(1, end - 1), trimmed(text.substr(end + 1))};
    }
    return last_word(text);
}

// An id has no blanks: source/prompt/prompt Hello you. Both parts may stand in quotes.
std::pair<std::string, std::string> label_and_value(const std::string& text) {
    const size_t blank = text.find(' ');
    const std::string first = text.substr(0, blank);
    const bool is_id = first.find('/') != std::string::npos && !first.starts_with('"') &&
                       std::none_of(first.begin(), first.end(),
                                    [](unsigned char c) { return std::isupper(c) != 0; });
    auto [label, value] = is_id && blank != std::string::npos
                              ? std::pair(first, trimmed(text.substr(blank)))
                              : label_and_rest(text);
    if (value.size() > 1 && value.front() == '"' && value.back() == '"')
        value = value.substr(1, value.size() - 2);
    return {label, value};
}

// A value beside which more is still worked out.
bool is_pending(const std::string& value) {
    constexpr std::array<std::string_view, 4> kWords{"Reading", "not all steps are read",
                                                     "being measured", "Computing"};
    return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view words) {
        return value.find(words) != std::string::npos;
    });
}

std::optional<double> number_of(const std::string& text) {
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

ImVec2 middle_of(const WidgetRecord& w) {
    return {(w.min.x + w.max.x) / 2, (w.min.y + w.max.y) / 2};
}

// Whether the window is still working on what it shows. Beside a running training the curves always
// want frames.
bool is_busy(const Ui& ui) {
    const bool wants_frames = ui.wanted.count > 0 || ui.wanted.at < ui.time + kSoon_s;
    return ui.status.state == RunState::opening || is_reading(ui.recorder.last()) ||
           (ui.session != nullptr && ui.session->completions().is_busy()) ||
           (ui.status.state != RunState::running && wants_frames);
}

// Text on the screen: a part of a widget's line in the dump, but of its id (that has no words on
// the screen) only the whole one.
bool is_on_screen(const PaneContext& ui, const std::string& words) {
    for (const std::string& line : split(dump(ui), '\n'))
        if (const size_t id = line.rfind('\t'); id != std::string::npos)
            if (line.compare(id + 1, std::string::npos, words) == 0 || line.find(words) < id)
                return true;
    return false;
}

}  // namespace

bool LinePatience::lasts(const Ui& ui) {
    if (!start_) start_ = std::chrono::steady_clock::now();
    const int64_t missed = ui.answers_missed();
    const bool has_missed = std::exchange(missed_, missed) != missed;
    if (seconds_since(*start_) > kWaitSeconds || !(has_missed || is_busy(ui))) ++frames_;
    return frames_ <= kPatience;
}

Script::Script(const std::string& text, std::string name, Tools tools)
    : name_(std::move(name)), tools_(std::move(tools)) {
    int number = 0;
    for (const std::string& line : split(text, '\n')) {
        ++number;
        std::string words = trimmed(line);
        if (words.empty() || words.starts_with('#')) continue;
        lines_.push_back({number, std::move(words)});
    }
}

void Script::stop(const std::string& why) const {
    const ScriptLine& line = lines_[std::min(at_, lines_.size() - 1)];
    fail("{}, line {}: '{}': {}", name_, line.number, line.words, why);
}

std::string Script::open_error(const Ui& ui) const {
    const std::vector<Toast>& toasts = ui.toasts.history();
    const size_t dropped = ui.toasts.added() - toasts.size();
    for (size_t i = std::max(toasts_, dropped) - dropped; i < toasts.size(); ++i)
        if (toasts[i].kind == ToastKind::error && toasts[i].title == kNotOpened)
            return toasts[i].detail;
    return ui.status.state == RunState::error ? ui.status.error : "";
}

bool Script::is_waiting(Frame& frame) {
    if (wait_.words.empty()) return false;
    if (!wait_.start) wait_.start = std::chrono::steady_clock::now();
    if (wait_.words == state_name(RunState::ready)) {
        if (const std::string why = open_error(frame.ui()); !why.empty()) {
            --at_;  // the line that waits
            stop(why);
        }
    }
    if (is_on_screen(frame.ui(), wait_.words)) {
        wait_.words.clear();
        return false;
    }
    if (seconds_since(*wait_.start) > wait_.seconds) {
        --at_;  // the line that waits
        stop(fmt::format("waited {} s and it did not appear", wait_.seconds));
    }
    frame.ui().want_frames(2);
    return true;
}

void Script::check_set(Frame& frame) {
    if (set_.label.empty()) return;
    Recorder& recorder = frame.ui().recorder;
    const std::string refusal = recorder.scripted.take_refusal();
    if (!refusal.empty() && !set_.patience.lasts(frame.ui())) {
        --at_;  // the line that asked for it
        stop(refusal);
    }
    if (!refusal.empty()) {  // its choices may come with an answer that is still read
        recorder.scripted.request(set_.label, set_.value);
        frames_ = 1;
        return;
    }
    if (!recorder.scripted.is_pending()) {
        set_.label.clear();
        return;
    }
    if (!set_.patience.lasts(frame.ui())) {
        --at_;
        stop("there is no such field on the screen");
    }
    frames_ = 1;
}

bool Script::advance(Frame& frame) {
    if (!gestures_.empty()) {
        gestures_.front()();
        gestures_.erase(gestures_.begin());
        return true;
    }
    if (frames_ > 0) {
        --frames_;
        return true;
    }
    check_set(frame);
    if (frames_ > 0 || is_waiting(frame)) return true;
    while (at_ < lines_.size()) {
        if (!perform(frame, lines_[at_])) {
            frames_ = 1;
            return true;
        }
        patience_ = {};
        ++at_;
        if (frames_ > 0 || !gestures_.empty() || !wait_.words.empty() ||
            frame.ui().commands.is_quitting())
            return true;
    }
    return false;
}

// False: not yet possible, to be tried again in the next frame.
bool Script::perform(Frame& frame, const ScriptLine& line) {
    Ui& ui = frame.ui();
    if (const Action* const action = ui.actions.find_named(line.words)) {
        const std::string why = ui.actions.why_not(ui, action->id);
        if (!why.empty() && patience_.lasts(ui)) return false;  // what it needs may come
        if (!why.empty()) stop(why);
        ui.actions.run(ui, action->id);
        frames_ = kSettleFrames;
        return true;
    }
    const size_t blank = line.words.find(' ');
    const std::string verb = line.words.substr(0, blank);
    const std::string rest = blank == std::string::npos ? "" : trimmed(line.words.substr(blank));
    if (verb == "click" || verb == "hover") return point_at(frame, verb, rest);
    if (verb == "shows" && !rest.empty()) return show_value(frame, rest);
    if (perform_own(frame, verb, rest)) return true;
    std::vector<std::string> names;
    for (const Action& known : ui.actions.all()) names.push_back(known.name);
    const std::string near = nearest_word(line.words, names);
    stop("there is no such action" + (near.empty() ? "; 'afterimage list actions' shows them all"
                                                   : "; did you mean '" + near + "'?"));
}

bool Script::point_at(Frame& frame, const std::string& verb, const std::string& rest) {
    std::string label = rest;
    std::optional<ImVec2> inside;
    if (verb == "hover") {
        const auto [head, y] = last_word(rest);
        const auto [name, x] = last_word(head);  // in quotes or not
        const auto dx = number_of(x), dy = number_of(y);
        if (!dx || !dy)
            stop("expected: hover NAME X Y, X and Y in pixels from the widget's corner");
        label = name;
        inside = ImVec2(static_cast<float>(*dx), static_cast<float>(*dy));
    }
    if (label.size() > 1 && label.front() == '"' && label.back() == '"')
        label = label.substr(1, label.size() - 2);
    Recorder& recorder = frame.ui().recorder;
    const WidgetRecord* widget = recorder.find(label);
    if (widget == nullptr || !widget->visible) {
        if (!patience_.lasts(frame.ui()))
            stop(widget == nullptr ? "there is no such widget on the screen"
                                   : "the widget cannot be scrolled into view");
        if (widget != nullptr) recorder.scroll_to = label;
        return false;
    }
    if (verb == "click" && !widget->why_not.empty()) {
        if (patience_.lasts(frame.ui())) return false;
        stop("it is disabled: " + widget->why_not);
    }
    const ImVec2 at =
        inside ? ImVec2(widget->min.x + inside->x, widget->min.y + inside->y) : middle_of(*widget);
    gestures_.push_back([at] { ImGui::GetIO().AddMousePosEvent(at.x, at.y); });
    if (verb == "click") {
        // The pointer follows a widget that an answer above it has moved.
        const auto send = [&recorder, label](bool down) {
            if (const WidgetRecord* const now = recorder.find(label);
                now != nullptr && now->visible)
                ImGui::GetIO().AddMousePosEvent(middle_of(*now).x, middle_of(*now).y);
            ImGui::GetIO().AddMouseButtonEvent(0, down);
        };
        gestures_.push_back([send] { send(true); });
        gestures_.push_back([send] { send(false); });
    }
    frames_ = kSettleFrames;
    return true;
}

void Script::press_keys(const std::string& keys) {
    const int chord = key_chord(keys);
    if (chord == 0) stop("not understood as keys; examples: Space, Ctrl+Shift+P, [");
    const std::pair<int, ImGuiKey> mods[] = {{ImGuiMod_Ctrl, ImGuiMod_Ctrl},
                                             {ImGuiMod_Shift, ImGuiMod_Shift},
                                             {ImGuiMod_Alt, ImGuiMod_Alt}};
    const auto key = static_cast<ImGuiKey>(chord & ~ImGuiMod_Mask_);
    const auto send = [chord, mods, key](bool down) {
        ImGuiIO& io = ImGui::GetIO();
        for (const auto& [bit, mod] : mods)
            if ((chord & bit) != 0) io.AddKeyEvent(mod, down);
        io.AddKeyEvent(key, down);
    };
    gestures_.push_back([send] { send(true); });
    gestures_.push_back([send] { send(false); });
    frames_ = kSettleFrames;
}

void Script::begin_wait(const std::string& rest) {
    auto [words, seconds] = label_and_rest(rest);
    const auto number = number_of(seconds);
    wait_.words = number ? words : rest;
    if (wait_.words.size() > 1 && wait_.words.front() == '"' && wait_.words.back() == '"')
        wait_.words = wait_.words.substr(1, wait_.words.size() - 2);
    wait_.seconds = number.value_or(kWaitSeconds);
    wait_.start.reset();
    if (wait_.words.empty()) stop("expected: wait TEXT [SECONDS]");
}

// Prints the value of a widget, once there is a number in it.
bool Script::show_value(Frame& frame, const std::string& id) {
    const WidgetRecord* const widget = frame.ui().recorder.find(id);
    const std::string value = widget == nullptr ? "" : widget->value;
    if (value.find_first_of("0123456789") != std::string::npos && !is_pending(value)) {
        fmt::print(stderr, "{}: {}\n", id, printable_line(value));
        wait_.start.reset();
        return true;
    }
    if (!wait_.start) wait_.start = std::chrono::steady_clock::now();
    if (seconds_since(*wait_.start) > kWaitSeconds)
        stop(widget == nullptr
                 ? "there is no such widget on the screen"
                 : fmt::format("{}: '{}'",
                               is_pending(value) ? "it is still worked out" : "it holds no number",
                               printable_line(value)));
    frame.ui().want_frames(2);
    return false;
}

bool Script::perform_own(Frame& frame, const std::string& verb, const std::string& rest) {
    if (verb == "open" && !rest.empty()) {
        toasts_ = frame.ui().toasts.added();
        frame.open(rest);
        frames_ = kSettleFrames;
    } else if (verb == "set" && !rest.empty()) {
        const auto [label, value] = label_and_value(rest);
        set_ = {.label = label, .value = value};
        frame.ui().recorder.scripted.request(label, value);
        frames_ = 2;
    } else if (verb == "key" && !rest.empty()) {
        press_keys(rest);
    } else if (verb == "frames") {
        const auto count = number_of(rest);
        if (!count || *count < 1 || *count > 1e6) stop("expected: frames N, N from 1 to 1000000");
        frames_ = static_cast<int>(*count);
    } else if (verb == "wait") {
        begin_wait(rest);
    } else if (verb == "shot" && !rest.empty()) {
        if (!tools_.shot) stop("pictures cannot be taken here");
        tools_.shot(rest);
    } else if (verb == "dump" && !rest.empty()) {
        write_atomically(rest, dump(frame.ui()));
    } else if (verb == "quit" && rest.empty()) {
        frame.ui().commands.send(Quit{});
    } else {
        return false;
    }
    return true;
}

}  // namespace aft::app
