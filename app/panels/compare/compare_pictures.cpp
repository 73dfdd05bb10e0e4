#include "app/panels/compare/compare_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/panels/shared/bias_values.h"
#include "core/text.h"

namespace aft::app {

namespace {

constexpr double kLeastLimit = 1e-3;  // of a map where next to nothing differs

bool shows_pair(CompareView view) {
    return view == CompareView::difference || view == CompareView::ratio;
}

std::string pair_title(const CompareSlots& slots, const ComparedPicture& picture) {
    const std::string &a = slots.at(picture.slot).letter, &b = slots.at(picture.other).letter;
    return picture.kind == ComparedPicture::ratio ? fmt::format("exp(w {})/exp(w {})\u22121", b, a)
                                                  : fmt::format("{} \u2212 {}", b, a);
}

std::vector<float> values_of(const PaneContext& ui, const ShownMaps& shown,
                             const ComparedPicture& picture, const BiasForm& form) {
    const Quantity quantity = ui.selection.quantity;
    const std::vector<float>& a = shown.at(picture.slot).w;
    if (!picture.is_pair()) return in_quantity(a, form.columns, quantity);
    const PairQuantity kind =
        picture.kind == ComparedPicture::ratio ? PairQuantity::ratio : PairQuantity::difference;
    return pair_values({.a = a, .b = shown.at(picture.other).w, .columns = form.columns}, kind,
                       quantity);
}

Range own_limits(const PaneContext& ui, const ComparedPicture& picture) {
    const std::vector<float> seen = seen_in(picture.map);
    const double percentile = ui.selection.percentile;
    if (picture.kind == ComparedPicture::difference) {
        const double most = std::max(kLeastLimit, value_range(seen, percentile, true).high);
        return {-most, most};
    }
    if (picture.kind == ComparedPicture::ratio)
        return quantity_limits(Quantity::exp_minus_one, seen, percentile, true);
    return quantity_limits(ui.selection.quantity, seen, percentile, ui.selection.symmetric);
}

}  // namespace

size_t ComparePictures::count(const CompareChoice& choice, size_t slots) {
    if (choice.view == CompareView::side_by_side) return slots;
    return shows_pair(choice.view) ? 3 : 1;
}

// All that a view needs: those of pairs stand last and are made of those before them.
void ComparePictures::plan(const PaneContext& ui, const CompareSlots& slots) {
    const CompareChoice& choice = ui.selection.compare;
    const bool is_side_by_side = choice.view == CompareView::side_by_side;
    const bool has_pair = shows_pair(choice.view) || choice.view == CompareView::split;
    const size_t singles = is_side_by_side ? slots.size() : 2;
    pictures_.resize(singles + (has_pair ? 1 : 0));
    keys_.resize(pictures_.size());
    for (size_t i = 0; i < pictures_.size(); ++i) {
        ComparedPicture& picture = pictures_[i];
        picture.kind = ComparedPicture::values;
        picture.slot = is_side_by_side ? i : i == 1 ? choice.other : 0;
        picture.other = choice.other;
        if (i == singles)
            picture.kind = choice.view == CompareView::split   ? ComparedPicture::split
                           : choice.view == CompareView::ratio ? ComparedPicture::ratio
                                                               : ComparedPicture::difference;
    }
}

std::vector<size_t> ComparePictures::columns(const CompareChoice& choice, bool swaps) const {
    if (choice.view == CompareView::flicker) return {swaps ? size_t{1} : size_t{0}};
    if (choice.view == CompareView::split) return {2};
    std::vector<size_t> out;
    for (size_t i = 0; i < pictures_.size(); ++i) out.push_back(i);
    const size_t second = choice.view == CompareView::side_by_side ? choice.other : 1;
    if (swaps && second < out.size()) out[0] = second;
    return out;
}

std::string ComparePictures::problem_of(const CompareSlots& slots, const ShownMaps& shown,
                                        const ComparedPicture& picture) const {
    const SlotMap &a = shown.at(picture.slot), &b = shown.at(picture.other);
    if (!a.error.empty() || picture.kind == ComparedPicture::values) return a.error;
    if (!b.error.empty()) return b.error;
    const ComparedSlot &first = slots.at(picture.slot), &second = slots.at(picture.other);
    if (!first.form || !second.form) return "";
    if (std::string why = why_not_comparable(first, second); !why.empty()) return why;
    const bool are_there = a.version != 0 && b.version != 0;
    return are_there && a.w.size() != b.w.size() ? "The two maps have different sizes." : "";
}

void ComparePictures::make(const PaneContext& ui, const CompareSlots& slots, const ShownMaps& shown,
                           size_t index) {
    ComparedPicture& picture = pictures_[index];
    const ComparedSlot& slot = slots.at(picture.slot);
    const SlotMap &a = shown.at(picture.slot), &b = shown.at(picture.other);
    const bool has_two = picture.kind != ComparedPicture::values;
    picture.title = picture.is_pair() ? pair_title(slots, picture) : slot.letter;
    picture.note = picture.is_pair() ? "own range" : slot.name;
    picture.problem = problem_of(slots, shown, picture);
    picture.is_dimmed = a.is_pending || (has_two && b.is_pending);
    if (!picture.problem.empty() || a.version == 0 || (has_two && b.version == 0)) {
        picture.map = {};
        keys_[index] = {};
        return;
    }
    const BiasForm& form = *a.form;
    const Blocks block = available_ ? form.blocks_for(*available_) : Blocks();
    const auto columns = (form.columns + block.columns - 1) / block.columns;
    const int64_t split = picture.kind == ComparedPicture::split
                              ? std::llround(ui.selection.compare.split * double(columns))
                              : -1;
    const PictureKey key{.kind = picture.kind,
                         .a = a.version,
                         .b = has_two ? b.version : 0,
                         .quantity = ui.selection.quantity,
                         .block = block,
                         .split = split,
                         .percentile = ui.selection.percentile * (ui.selection.symmetric ? 1 : -1)};
    if (keys_[index] == key) return;
    keys_[index] = key;
    picture.map = picture.kind == ComparedPicture::split
                      ? split_map(pictures_[0].map, pictures_[1].map, split)
                      : drawn_map(values_of(ui, shown, picture, form), form, block);
    picture.version = ++versions_;
    picture.own = own_limits(ui, picture);
}

void ComparePictures::update(const PaneContext& ui, const CompareSlots& slots,
                             const ShownMaps& shown, std::optional<ImVec2> available) {
    if (std::exchange(hand_quantity_, ui.selection.quantity) != ui.selection.quantity)
        hand_values_ = hand_difference_ = std::nullopt;
    available_ = available;
    plan(ui, slots);
    for (size_t i = 0; i < pictures_.size(); ++i) make(ui, slots, shown, i);
}

void ComparePictures::set_range(const ComparedPicture& picture, std::optional<Range> range) {
    (picture.kind == ComparedPicture::difference ? hand_difference_
     : picture.kind == ComparedPicture::ratio    ? hand_ratio_
                                                 : hand_values_) = range;
}

Range ComparePictures::limits(const PaneContext& ui, const ComparedPicture& picture) const {
    if (picture.kind == ComparedPicture::difference) return hand_difference_.value_or(picture.own);
    if (picture.kind == ComparedPicture::ratio) return hand_ratio_.value_or(picture.own);
    if (hand_values_) return *hand_values_;
    const bool is_whole = picture.kind == ComparedPicture::values;
    if (!ui.selection.compare.links_range && is_whole) return picture.own;
    Range out = picture.own;
    for (const ComparedPicture& other : pictures_) {
        if (other.kind != ComparedPicture::values || other.map.shown.empty()) continue;
        out = {std::min(out.low, other.own.low), std::max(out.high, other.own.high)};
    }
    return out;
}

Coloring ComparePictures::coloring(const PaneContext& ui, const ComparedPicture& picture) const {
    Coloring out;
    out.range = limits(ui, picture);
    const Quantity quantity = ui.selection.quantity;
    out.map = picture.is_pair() || is_signed(quantity) ? ui.theme.diverging : Colormap::viridis;
    if (picture.kind == ComparedPicture::ratio)
        out.scale = Scale::signed_log;
    else if (picture.kind == ComparedPicture::difference || quantity == Quantity::w)
        out.scale = Scale::signed_linear;
    else if (quantity == Quantity::exp_minus_one)
        out.scale = ui.selection.scale == Scale::two_sided ? Scale::two_sided : Scale::signed_log;
    return out;
}

}  // namespace aft::app
