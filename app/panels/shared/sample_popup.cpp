#include "app/panels/shared/sample_popup.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/panels/shared/sample_input.h"
#include "app/state/picture_list.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/fields.h"
#include "app/widgets/text.h"

namespace aft::app {

namespace {

// On the same line, where the window is wide enough for all that stands on it.
void beside(const DrawContext& ui) {
    constexpr float kWholeLine = 720;
    if (ImGui::GetIO().DisplaySize.x >= ui.px(kWholeLine))
        ImGui::SameLine(0, ui.px(12));
    else
        ImGui::Dummy({1, ui.px(4)});
}

}  // namespace

void SamplePopup::draw_part(PaneContext& ui) {
    const ImageChoice& image = ui.selection.image;
    const Choice splits[] = {{.text = "train"}, {.text = "validation"}, {.text = "test"}};
    const auto* const known =
        std::find_if(std::begin(splits), std::end(splits),
                     [&](const Choice& c) { return c.text.id == image.split; });
    int split = known == std::end(splits) ? -1 : int(known - splits);  // -1: not known yet
    const Choices parts{.list = splits, .tip = "The part of the data set that is read from."};
    if (segmented(ui, "Split##split", split, parts)) show_sample(ui, splits[split].text.id, 0);
}

void SamplePopup::draw_index(PaneContext& ui) {
    int64_t index = ui.selection.image.index;
    if (drag_field(ui,
                   {.name = "Index##index",
                    .min = 0,
                    .max = 1e6,
                    .integer = true,
                    .prefix = "index",
                    .tip = "Which example of this part, from 0.",
                    .width = 200,
                    .drag_speed = 0.2F},
                   index))
        show_sample(ui, ui.selection.image.split, index);
}

int64_t SamplePopup::on_page() const {
    return std::clamp<int64_t>(size_ - first_, 1, kExamplesOfPage);
}

// Few are asked for at a time: probes of the same thread wait for them.
void SamplePopup::gather(const ViewState& ui) {
    constexpr int kMostAsked = 8;
    const std::string& part = ui.selection.image.split;
    const std::string of = fmt::format("{} {} {}", ui.opened, ui.status.config.data.source, part);
    const bool is_other_part = std::exchange(of_, of) != of;
    if (is_other_part) size_ = 0;
    if (std::exchange(read_first_, first_) != first_ || is_other_part) {
        const ModelConfig& model = ui.status.config.model;
        form_ = {.is_text = is_text(ui),
                 .height = model.height,
                 .width = model.width,
                 .channels = model.channels,
                 .levels = model.levels,
                 .alphabet = ui.status.alphabet,
                 .class_names = ui.status.class_names};
        items_.assign(size_t(size_ == 0 ? kExamplesOfPage : on_page()), nullptr);
    }
    int asked = 0;
    for (size_t i = 0; i < items_.size() && asked < kMostAsked; ++i) {
        if (items_[i]) continue;
        ItemError error;
        items_[i] = ui.session->items().example(part, first_ + int64_t(i), &error);
        if (!items_[i] && error.words.empty()) ++asked;
        if (!items_[i]) continue;
        size_ = items_[i]->part_size;
        items_.resize(size_t(on_page()));  // those beyond begin it again
    }
}

namespace {

// Ctrl: one more, or one less; Shift: all from the source to it. The source is one of them.
void choose_beside(ImageChoice& image, std::vector<int64_t>& several, int64_t taken) {
    if (several.empty()) several = {image.index};
    const auto add = [&](int64_t index) {
        if (several.size() < kMostPictures &&
            std::find(several.begin(), several.end(), index) == several.end())
            several.push_back(index);
    };
    if (ImGui::GetIO().KeyShift) {
        for (int64_t i = image.index; i != taken; i += taken > image.index ? 1 : -1) add(i);
        add(taken);
    } else if (std::erase(several, taken) == 0) {
        add(taken);
    }
    if (several.empty()) several = {taken};
    if (std::find(several.begin(), several.end(), image.index) == several.end())
        image = {.split = image.split, .index = several.front(), .path = {}, .item = {}};
}

}  // namespace

void SamplePopup::draw_examples(PaneContext& ui, std::vector<int64_t>* several) {
    ImageChoice& image = ui.selection.image;
    if (image.split.empty() || ui.session == nullptr || image.is_part_empty) return;
    const int64_t chosen = image.path.empty() ? image.index : -1;
    if (std::exchange(followed_, chosen) != chosen) first_ = page_first(chosen);
    if (size_ > 0 && first_ >= size_) first_ = page_first(size_ - 1);
    gather(ui);
    beside(ui);
    const int64_t shown = example_pages(ui, first_, size_);
    ImGui::Dummy({1, ui.px(6)});
    if (const auto taken =
            grid_.draw(ui, {.form = form_,
                            .items = items_,
                            .first = first_,
                            .chosen = chosen,
                            .others = several != nullptr ? *several : std::span<int64_t>()})) {
        const ImGuiIO& io = ImGui::GetIO();
        if (several != nullptr && chosen >= 0 && (io.KeyCtrl || io.KeyShift)) {
            choose_beside(image, *several, *taken);
        } else {
            if (several != nullptr) several->clear();
            show_sample(ui, image.split, *taken);
            ImGui::CloseCurrentPopup();
        }
    }
    first_ = shown;
}

void SamplePopup::draw(Ui& ui, std::vector<int64_t>* several) {
    const PopupScope popup(ui, "samples", kPagePadding);
    if (!popup.is_open()) return;
    if (ImGui::IsWindowAppearing()) of_.clear(), followed_ = -1;
    if (is_text(ui)) {
        if (own_text_.draw(ui, example_texts_size(ui).x)) ImGui::CloseCurrentPopup();
        ImGui::Dummy({1, ui.px(8)});
    }
    text(ui, "From the data set", {text_size::label, ui.theme.text1, Face::semibold});
    ImGui::Dummy({1, ui.px(4)});
    draw_part(ui);
    beside(ui);
    draw_index(ui);
    draw_examples(ui, several);
    hint(ui, several != nullptr && several->size() > 1
                 ? fmt::format("{} of at most {} pictures: {}", several->size(), kMostPictures,
                               picture_list_words(*several))
                 : sample_words(ui));
    if (several != nullptr)
        hint(ui, "With Ctrl a click adds one or leaves it out, with Shift all up to it.");
    if (ui.actions.why_not(ui, "file.choose_data").empty())
        (void)action_button(ui, "file.choose_data");
    if (!is_text(ui)) hint(ui, "Or drop a picture anywhere in the window.");
}

void SampleTool::draw(Ui& ui) {
    sample_steps(ui);
    ImGui::SameLine(0, ui.px(2));
    if (button(ui, {.name = "Choose sample##choose_sample",
                    .icon = is_text(ui) ? icon::text : icon::picture,
                    .tip = "Chooses the example that the model looks at." + fitting_words(ui),
                    .shown = sample_words(ui)}))
        ImGui::OpenPopup("samples");
    popup_.draw(ui);
}

}  // namespace aft::app
