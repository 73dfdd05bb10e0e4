#include "app/state/recorder.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <cmath>
#include <utility>

#include "core/outside.h"

namespace aft::app {

namespace {

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\t')
            out += "\\t";
        else if (c == '\n')
            out += "\\n";
        else if (c == '\\')
            out += "\\\\";
        else
            out += c;
    }
    return printable_line(out);
}

bool is_same_label(std::string_view full, std::string_view wanted) {
    if (full == wanted) return true;
    return full.size() > wanted.size() && full.ends_with(wanted) &&
           full[full.size() - wanted.size() - 1] == '/';
}

}  // namespace

void Recorder::begin_frame() {
    current_.clear();
    seen_.clear();
    pane_ = "Window";
    section_ = "Main";
}

void Recorder::end_frame() {
    last_ = std::exchange(current_, {});
}

void Recorder::set_pane(std::string name) {
    pane_ = std::move(name);
    section_ = "Main";
}

void Recorder::set_section(std::string name) {
    section_ = std::move(name);
}

std::string Recorder::claim(std::string_view name) {
    std::string label = fmt::format("{}/{}/{}", pane_, section_, name);
    const int count = ++seen_[label];
    if (count > 1) label += fmt::format("#{}", count);
    return label;
}

void Recorder::item(std::string kind, std::string label, std::string value, std::string why_not) {
    WidgetRecord record{.kind = std::move(kind),
                        .label = std::move(label),
                        .min = ImGui::GetItemRectMin(),
                        .max = ImGui::GetItemRectMax(),
                        .value = std::move(value),
                        .why_not = std::move(why_not),
                        .id = ImGui::GetItemID()};
    area(std::move(record));
}

void Recorder::area(WidgetRecord record) {
    const ImRect clip = ImGui::GetCurrentWindowRead()->ClipRect;
    record.window = ImGui::GetCurrentWindowRead()->ID;
    record.visible =
        record.kind == "tab" ||  // of a hidden pane: it stands outside that pane's window
        clip.Contains(ImVec2((record.min.x + record.max.x) / 2, (record.min.y + record.max.y) / 2));
    if (!scroll_to.empty() && is_same_label(record.label, scroll_to)) {
        ImGui::ScrollToRect(ImGui::GetCurrentWindow(), ImRect(record.min, record.max));
        scroll_to.clear();
    }
    current_.push_back(std::move(record));
}

const WidgetRecord* Recorder::find(std::string_view label) const {
    for (const WidgetRecord& record : last_)
        if (record.label == label) return &record;
    for (const WidgetRecord& record : last_)
        if (is_same_label(record.label, label)) return &record;
    for (const WidgetRecord& record : last_)
        if (!record.action.empty() && record.action == label) return &record;
    return nullptr;
}

void Recorder::runs_action(std::string id) {
    current_.back().action = std::move(id);
}

void ScriptedValue::request(std::string label, std::string value) {
    label_ = std::move(label);
    value_ = std::move(value);
    refusal_.clear();
}

std::optional<std::string> ScriptedValue::take(std::string_view label) {
    if (!label_ || !is_same_label(label, *label_)) return std::nullopt;
    label_.reset();
    return std::move(value_);
}

std::string dump_text(const Recorder& recorder, uint64_t frame, std::string_view workspace,
                      float pixels_per_unit) {
    std::string out = fmt::format("frame\t{}\t{}\n", frame, workspace);
    const auto pixel = [pixels_per_unit](float v) {
        return static_cast<int>(std::lround(v * pixels_per_unit));
    };
    for (const WidgetRecord& w : recorder.last()) {
        out += fmt::format("{}\t{}\t{} {} {} {}\t{}\t{}\n", escaped(w.kind), escaped(w.label),
                           pixel(w.min.x), pixel(w.min.y), pixel(w.max.x - w.min.x),
                           pixel(w.max.y - w.min.y), escaped(w.value),
                           w.why_not.empty() ? "enabled" : "disabled: " + escaped(w.why_not));
    }
    return out;
}

}  // namespace aft::app
