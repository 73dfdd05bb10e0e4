#include "app/state/recorder.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
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

bool ends_with_name(std::string_view full, std::string_view name) {
    if (full == name) return true;
    return full.size() > name.size() && full.ends_with(name) &&
           full[full.size() - name.size() - 1] == '/';
}

// "label#2" for the second one.
void make_unique(std::unordered_map<std::string, int>& seen, std::string& path) {
    const int count = ++seen[path];
    if (count > 1) path += fmt::format("#{}", count);
}

const WidgetName kMain{"Main##main"};

}  // namespace

bool WidgetPath::is(std::string_view name) const {
    return ends_with_name(label, name) || ends_with_name(id, name);
}

void Recorder::begin_frame() {
    current_.clear();
    labels_.clear();
    ids_.clear();
    pane_ = "Window##window";
    section_ = kMain;
}

void Recorder::end_frame() {
    last_ = std::exchange(current_, {});
}

void Recorder::set_pane(WidgetName name) {
    pane_ = std::move(name);
    section_ = kMain;
}

void Recorder::set_section(WidgetName name) {
    section_ = std::move(name);
}

WidgetPath Recorder::claim(const WidgetName& name) {
    WidgetPath path{.label = fmt::format("{}/{}/{}", pane_.words, section_.words, name.words),
                    .id = fmt::format("{}/{}/{}", pane_.id, section_.id, name.id),
                    .has_id = pane_.has_id && section_.has_id && name.has_id};
    make_unique(labels_, path.label);
    make_unique(ids_, path.id);
    return path;
}

void Recorder::item(std::string kind, WidgetPath path, std::string value, std::string why_not) {
    WidgetRecord record{.kind = std::move(kind),
                        .path = std::move(path),
                        .min = ImGui::GetItemRectMin(),
                        .max = ImGui::GetItemRectMax(),
                        .value = std::move(value),
                        .why_not = std::move(why_not),
                        .item = ImGui::GetItemID()};
    area(std::move(record));
}

void Recorder::area(WidgetRecord record) {
    const ImRect clip = ImGui::GetCurrentWindowRead()->ClipRect;
    record.window = ImGui::GetCurrentWindowRead()->ID;
    // Of a hidden pane: it stands outside that pane's window.
    record.visible =
        record.kind == "tab" ||
        clip.Contains(ImVec2((record.min.x + record.max.x) / 2, (record.min.y + record.max.y) / 2));
    if (!scroll_to.empty() && record.path.is(scroll_to)) {
        ImGui::ScrollToRect(ImGui::GetCurrentWindow(), ImRect(record.min, record.max));
        scroll_to.clear();
    }
    current_.push_back(std::move(record));
}

const WidgetRecord* Recorder::find(std::string_view name) const {
    const auto first = [this](const auto& fits) {
        const auto found = std::find_if(last_.begin(), last_.end(), fits);
        return found == last_.end() ? nullptr : &*found;
    };
    if (const auto* same = first([name](const WidgetRecord& record) {
            return record.path.label == name || record.path.id == name;
        }))
        return same;
    if (const auto* runs = first([name](const WidgetRecord& record) {
            return !record.action.empty() && record.action == name;
        }))
        return runs;
    return first([name](const WidgetRecord& record) { return record.path.is(name); });
}

void Recorder::runs_action(std::string id) {
    current_.back().action = std::move(id);
}

const std::string& pane_id(const Recorder& recorder) {
    return recorder.pane_.id;
}

void record_tip(Recorder& recorder, ImGuiID item, std::string tip) {
    std::vector<WidgetRecord>& list = recorder.current_;
    if (item != 0 && !list.empty() && list.back().item == item) list.back().tip = std::move(tip);
}

void ScriptedValue::request(std::string name, std::string value) {
    name_ = std::move(name);
    value_ = std::move(value);
    refusal_.clear();
}

std::optional<std::string> ScriptedValue::take(const WidgetPath& path) {
    if (!name_ || !path.is(*name_)) return std::nullopt;
    name_.reset();
    return std::move(value_);
}

bool is_reading(const std::vector<WidgetRecord>& widgets) {
    return std::any_of(widgets.begin(), widgets.end(), [](const WidgetRecord& w) {
        const bool has_words = w.kind == "caption" || w.kind == "progress" || w.kind == "hint";
        const auto says = [&](const char* word) { return w.value.find(word) != std::string::npos; };
        return (w.kind == "map" && w.value == "loading") || says("computing") ||
               (has_words && (says("Reading ") || says("Computing ")));
    });
}

std::string dump_text(const Recorder& recorder, uint64_t frame, std::string_view workspace,
                      float pixels_per_unit) {
    std::string out = fmt::format("frame\t{}\t{}\n", frame, workspace);
    const auto pixel = [pixels_per_unit](float v) {
        return static_cast<int>(std::lround(v * pixels_per_unit));
    };
    for (const WidgetRecord& w : recorder.last()) {
        out += fmt::format("{}\t{}\t{} {} {} {}\t{}\t{}\t{}\n", escaped(w.kind),
                           escaped(w.path.label), pixel(w.min.x), pixel(w.min.y),
                           pixel(w.max.x - w.min.x), pixel(w.max.y - w.min.y), escaped(w.value),
                           w.why_not.empty() ? "enabled" : "disabled: " + escaped(w.why_not),
                           escaped(w.path.id));
    }
    return out;
}

}  // namespace aft::app
