#include "app/state/undo_notes.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

#include "core/text.h"

namespace aft::app {
namespace {

struct ChoiceRow {
    const char* words;
    bool is_slide;  // changes little by little
    bool (*differs)(const Undoable& a, const Undoable& b);
    void (*take)(const Undoable& from, Undoable& to);
    std::string (*value)(const Undoable& of);  // null: its name says enough
};

template <auto... Path>
constexpr ChoiceRow row_of(const char* words, bool is_slide = false) {
    return {
        words, is_slide,
        [](const Undoable& a, const Undoable& b) { return !((a.*....*Path) == (b.*....*Path)); },
        [](const Undoable& from, Undoable& to) { (to.*....*Path) = (from.*....*Path); }, nullptr};
}

// Its name comes with its value: "top-p = 0.9".
template <auto... Path>
constexpr ChoiceRow value_row(const char* words, bool is_slide = true) {
    ChoiceRow row = row_of<Path...>(words, is_slide);
    row.value = [](const Undoable& of) {
        const auto& value = (of.*....*Path);
        if constexpr (std::is_same_v<decltype(value), const bool&>)
            return std::string(value ? "on" : "off");
        else if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(value)>>)
            return significant(value, 4);
        else
            return fmt::format("{}", value);
    };
    return row;
}

constexpr auto kMaps = &Undoable::maps;
constexpr auto kAttention = &Undoable::attention;
constexpr auto kSampling = &Undoable::sampling;
constexpr auto kOptions = &SamplingSettings::options;
constexpr auto kBatch = &Undoable::batch;
constexpr auto kCompare = &Undoable::compare;
constexpr const char *kRangeByHand = "range", *kSlots = "slots of Compare";

// Of several that change at once the first gives its name: another quantity ends a range by hand,
// another slot is compared with A when one is added.
constexpr ChoiceRow kRows[] = {
    row_of<kMaps, &MapDisplay::quantity>("quantity"),
    row_of<kMaps, &MapDisplay::gauge>("gauge"),
    row_of<kMaps, &MapDisplay::difference_to_pin>("change since pin"),
    row_of<kMaps, &MapDisplay::range_mode>("range rule"),
    row_of<kMaps, &MapDisplay::percentile>("limits"),
    row_of<kMaps, &MapDisplay::symmetric>("symmetric ends"),
    row_of<kMaps, &MapDisplay::scale>("scale"),
    row_of<kMaps, &MapDisplay::order>("order of the Atlas"),
    row_of<kMaps, &MapDisplay::block_value>("value of blocks"),
    row_of<kMaps, &MapDisplay::range_by_hand>(kRangeByHand, true),
    row_of<kAttention, &AttentionLook::scale>("scale of attention"),
    row_of<kAttention, &AttentionLook::colors>("colours of attention"),
    row_of<kAttention, &AttentionLook::over_image>("picture under the map"),
    row_of<kAttention, &AttentionLook::opacity>("opacity of the map", true),
    value_row<kSampling, kOptions, &SampleOptions::samples>("samples"),
    value_row<kSampling, kOptions, &SampleOptions::temperature>("temperature"),
    value_row<kSampling, kOptions, &SampleOptions::top_p>("top-p"),
    value_row<kSampling, kOptions, &SampleOptions::top_k>("top-k"),
    value_row<kSampling, kOptions, &SampleOptions::particles>("particles"),
    value_row<kSampling, kOptions, &SampleOptions::seed>("seed"),
    value_row<kSampling, &SamplingSettings::seed_locked>("seed locked", false),
    row_of<kSampling, &SamplingSettings::overlay>("overlay of samples"),
    row_of<kSampling, &SamplingSettings::prompt>("prompt"),
    value_row<kSampling, &SamplingSettings::length>("length of the text"),
    value_row<kBatch, &PinnedExamples::examples>("examples of the pinned batch"),
    value_row<kBatch, &PinnedExamples::first>("first index of the pinned batch"),
    row_of<kCompare, &CompareChoice::slots>(kSlots),
    row_of<kCompare, &CompareChoice::view>("view of Compare"),
    row_of<kCompare, &CompareChoice::other>("slot that A is compared with"),
    value_row<kCompare, &CompareChoice::split>("split line"),
    value_row<kCompare, &CompareChoice::matches>("heads matched", false),
    value_row<kCompare, &CompareChoice::links_zoom>("zoom and pan linked", false),
    value_row<kCompare, &CompareChoice::links_range>("range linked", false)};

Undoable choices_of(const ViewState& ui) {
    const CompletionChoice& completion = ui.selection.completion;
    return {.maps = ui.selection,
            .attention = ui.settings.attention,
            .sampling = {.options = completion.sample,
                         .seed_locked = completion.seed_locked,
                         .overlay = static_cast<int>(completion.overlay),
                         .prompt = completion.prompt,
                         .length = completion.length},
            .batch = {.examples = ui.selection.lab.examples, .first = ui.selection.lab.first},
            .compare = ui.selection.compare};
}

// What differs between the slots: one was added, taken out, or changed; or two changed places.
std::string slots_words(const std::vector<CompareSlot>& before,
                        const std::vector<CompareSlot>& now) {
    if (now.size() != before.size())
        return now.size() > before.size() ? "slot of Compare added" : "slot of Compare removed";
    size_t at = now.size(), count = 0;
    for (size_t i = now.size(); i-- > 0;)
        if (now[i] != before[i]) at = i, ++count;
    if (at == now.size()) return kSlots;
    if (count > 1) return "slots of Compare swapped";
    const char letter = static_cast<char>('A' + at);
    CompareSlot rest = now[at];
    rest.path = before[at].path;  // a step of what is open names its run
    rest.step = before[at].step;
    if (rest == before[at]) return fmt::format("step of slot {}", letter);
    rest = now[at];
    rest.head = before[at].head;
    if (rest == before[at]) return fmt::format("head of slot {}", letter);
    return fmt::format("interventions of slot {}", letter);
}

}  // namespace

void note_choices(ViewState& ui, double time) {
    ChangeHistory& changes = ui.selection.changes;
    Undoable now = choices_of(ui);
    // A text is one change, from when the keyboard is in its field until it leaves it.
    if (changes.seen() != nullptr && ImGui::GetIO().WantTextInput)
        now.sampling.prompt = changes.seen()->sampling.prompt;
    const std::optional<Undoable> before = changes.see(now);
    if (!before) return;
    const auto* const row =
        std::find_if(std::begin(kRows), std::end(kRows),
                     [&](const ChoiceRow& one) { return one.differs(*before, now); });
    if (row == std::end(kRows)) return;
    std::string what = row->words;
    bool is_slide = row->is_slide;
    if (what == kRangeByHand) {
        what += fmt::format(", at layer {}", ui.selection.cell.layer);
        is_slide = before->maps.range_by_hand && now.maps.range_by_hand;  // neither set nor reset
    }
    if (what == kSlots) what = slots_words(before->compare.slots, now.compare.slots);
    changes.add({.of = ChoiceChange{*before, std::move(now), is_slide},
                 .what = std::move(what),
                 .time = time,
                 .press = press_time()});
}

void show_change(ViewState& ui, const ChoiceChange& change) {
    Undoable now = choices_of(ui);
    for (const ChoiceRow& row : kRows)
        if (row.differs(change.before, change.after)) row.take(change.after, now);
    static_cast<MapDisplay&>(ui.selection) = now.maps;
    ui.settings.attention = now.attention;
    CompletionChoice& completion = ui.selection.completion;
    completion.sample = now.sampling.options;
    completion.seed_locked = now.sampling.seed_locked;
    completion.overlay = static_cast<Overlay>(now.sampling.overlay);
    completion.prompt = now.sampling.prompt;
    completion.length = now.sampling.length;
    ui.selection.lab.examples = now.batch.examples;
    ui.selection.lab.first = now.batch.first;
    ui.selection.compare = now.compare;
    (void)ui.selection.changes.see(now);
}

std::string change_words(const UserChange& change) {
    if (const auto* const setting = std::get_if<SettingChange>(&change.of))
        return change.what + " = " + (setting->after.empty() ? "none" : setting->after);
    if (const auto* const note = std::get_if<NoteChange>(&change.of))
        return change.what + (note->after.empty() ? " removed" : ": " + note->after);
    const auto* const row =
        std::find_if(std::begin(kRows), std::end(kRows),
                     [&](const ChoiceRow& one) { return change.what == one.words; });
    if (row == std::end(kRows) || row->value == nullptr) return change.what;
    return change.what + " = " + row->value(std::get<ChoiceChange>(change.of).after);
}

double press_time() {
    const bool is_held =
        ImGui::IsMouseDown(ImGuiMouseButton_Left) || ImGui::IsMouseReleased(ImGuiMouseButton_Left);
    return is_held ? ImGui::GetIO().MouseClickedTime[ImGuiMouseButton_Left] : -1;
}

}  // namespace aft::app
