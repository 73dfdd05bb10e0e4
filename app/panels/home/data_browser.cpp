#include "app/panels/home/data_browser.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/text.h"
#include "core/caught.h"
#include "core/outside.h"
#include "core/text.h"

namespace aft::app {
namespace {

constexpr const char* kParts[] = {"train", "validation", "test"};

int64_t examples_of(const DataFacts& facts, const std::string& part) {
    for (size_t i = 0; i < std::size(kParts); ++i)
        if (part == kParts[i]) return facts.examples[i];
    return 0;
}

std::string short_words(const std::string& why) {
    return "This text " + why + ".";
}

// Nothing to show: the text is shorter than one example of any part.
bool is_all_too_short(const DataFacts& facts) {
    return facts.is_text && facts.examples == std::array<int64_t, 3>{};
}

float page_width(const DrawContext& ui) {
    return std::max(ui.px(kExampleGridWidth), example_texts_size(ui).x);
}

// As large as what comes.
void draw_reading(DrawContext& ui) {
    constexpr float kHead = 80;
    hint(ui, "Reading the data ...");
    ImGui::Dummy({page_width(ui), ui.px(kExampleGridHeight + kHead)});
}

void draw_data_problem(DrawContext& ui, const std::string& words) {
    ImGui::PushTextWrapPos(ui.px(480));
    text(ui, words, {text_size::hint, ui.theme.error});
    ImGui::PopTextWrapPos();
    ui.recorder.item("problem", ui.recorder.claim("Problem##problem"), words);
}

}  // namespace

std::string data_words(const DataFacts& facts) {
    constexpr size_t kMostNames = 10;
    if (facts.is_text)
        return fmt::format("a text, in windows of the model's length; an alphabet of {} bytes",
                           facts.alphabet.empty() ? facts.levels : int64_t(facts.alphabet.size()));
    std::string words = fmt::format("pictures of {} \u00D7 {} \u00D7 {}, {} levels", facts.height,
                                    facts.width, facts.channels, facts.levels);
    if (facts.classes <= 0) return words + ", no classes";
    words += fmt::format(", {} classes", group_thousands(facts.classes));
    for (size_t i = 0; i < std::min(kMostNames, facts.class_names.size()); ++i)
        words += (i == 0 ? ": " : ", ") + printable_line(facts.class_names[i]);
    return words + (facts.class_names.size() > kMostNames ? ", ..." : "");
}

void DataBrowser::open(const Config& config) {
    config_ = config;
    wanted_ = {};
    chosen_ = -1;
    ++opening_;
    ImGui::OpenPopup("data browser");
}

// On the thread of its own. What is there is handed over as it comes.
void DataBrowser::read(DataPageAnswer answer, const Config& config,
                       const Background<DataPageAnswer>::Publish& publish,
                       const std::stop_token& stop) {
    constexpr int64_t kAtOnce = 8;
    answer.problem = error_words([&] {
        if (!answer.data) answer.data = open_data(config, stop);
        answer.facts = facts_of_data(*answer.data);
        if (answer.of.part.empty()) answer.of.part = answer.facts.usual_part;
        const int64_t size = examples_of(answer.facts, answer.of.part);
        const int64_t count = std::clamp<int64_t>(size - answer.of.first, 0, kExamplesOfPage);
        answer.items.assign(size_t(count), nullptr);
        for (int64_t i = 0; i < count && !stop.stop_requested(); ++i) {
            if (i % kAtOnce == 0) publish(answer);
            const int64_t index = answer.of.first + i;
            const std::string why = error_words([&] {
                answer.items[size_t(i)] = std::make_shared<const DataItem>(
                    data_example(*answer.data, answer.of.part, index));
            });
            if (!why.empty() && answer.unread.empty())
                answer.unread = fmt::format("{} cannot be read: {}", index, why);
        }
    });
    publish(std::move(answer));
}

void DataBrowser::ask() {
    if (pages_.is_busy() || (asked_ == wanted_ && asked_opening_ == opening_)) return;
    const auto last = pages_.latest();
    DataPageAnswer next{.of = wanted_, .opening = opening_};
    if (last && last->opening == opening_) next.data = last->data;
    asked_ = wanted_;
    asked_opening_ = opening_;
    pages_.start([next = std::move(next), config = config_](const auto& publish,
                                                            const std::stop_token& stop) {
        read(next, config, publish, stop);
    });
}

// Open files and what was read of them.
void DataBrowser::close() {
    if (asked_opening_ == 0) return;
    pages_.forget();
    grid_ = {};
    asked_opening_ = 0;
}

void DataBrowser::draw_part(DrawContext& ui, const DataFacts& facts, const std::string& part) {
    Choice parts[] = {{.text = "train"}, {.text = "validation"}, {.text = "test"}};
    int chosen = -1;
    for (size_t i = 0; i < std::size(parts); ++i) {
        if (facts.examples[i] == 0)
            parts[i].why_not = facts.too_short[i].empty() ? "These data have no such part."
                                                          : short_words(facts.too_short[i]);
        if (part == kParts[i]) chosen = static_cast<int>(i);
    }
    if (!segmented(ui, "Part##part", chosen,
                   {.list = parts, .tip = "The part of the data that is looked at."}))
        return;
    wanted_ = {.part = kParts[chosen], .first = 0};
    chosen_ = -1;
}

void DataBrowser::draw_answer(DrawContext& ui, const DataPageAnswer& answer) {
    const DataFacts& facts = answer.facts;
    hint(ui, data_words(facts));
    hint(ui, fmt::format("{} to train on, {} to validate, {} to test",
                         group_thousands(facts.examples[0]), group_thousands(facts.examples[1]),
                         group_thousands(facts.examples[2])));
    ImGui::Dummy({1, ui.px(4)});
    draw_part(ui, facts, answer.of.part);
    ImGui::SameLine(0, ui.px(12));
    const int64_t first = example_pages(ui, answer.of.first, examples_of(facts, answer.of.part));
    if (first != answer.of.first) wanted_ = {.part = answer.of.part, .first = first};
    const ExampleForm form = {.is_text = facts.is_text,
                              .height = facts.height,
                              .width = facts.width,
                              .channels = facts.channels,
                              .levels = facts.levels,
                              .alphabet = facts.alphabet,
                              .class_names = facts.class_names};
    ImGui::Dummy({1, ui.px(6)});
    if (const auto taken = grid_.draw(
            ui, {.form = form, .items = answer.items, .first = answer.of.first, .chosen = chosen_}))
        chosen_ = *taken;
    if (answer.unread.empty())
        ImGui::Dummy({1, ui.px(text_size::hint)});  // what comes later moves nothing
    else
        hint(ui, answer.unread);
    const int64_t slot = chosen_ - answer.of.first;
    const bool is_there =
        slot >= 0 && slot < int64_t(answer.items.size()) && answer.items[size_t(slot)] != nullptr;
    hint(ui, is_there
                 ? answer.of.part + " " + example_words(form, *answer.items[size_t(slot)], chosen_)
                 : "A click marks an example and names it here.");
}

void DataBrowser::draw(DrawContext& ui) {
    const PopupScope popup(ui, "data browser", kPagePadding);
    if (!popup.is_open()) return close();
    ask();
    if (pages_.is_busy()) ui.want_frames(1);
    text(ui, printable_line(config_.data.source),
         {text_size::label, ui.theme.text1, Face::semibold});
    const auto answer = pages_.latest();
    const bool is_new = !answer || answer->opening != opening_;
    const bool is_reading = is_new || (answer->items.empty() && pages_.is_busy());
    if (is_reading && (is_new || answer->problem.empty()))
        draw_reading(ui);
    else if (!answer->problem.empty())
        draw_data_problem(ui, "These data cannot be read: " + answer->problem);
    else if (is_all_too_short(answer->facts))
        draw_data_problem(ui, short_words(answer->facts.too_short.front()));
    else
        draw_answer(ui, *answer);
}

}  // namespace aft::app
