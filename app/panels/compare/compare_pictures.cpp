#include "app/panels/compare/compare_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "app/panels/shared/bias_values.h"
#include "core/text.h"

namespace aft::app {

namespace {

constexpr double kLeastLimit = 1e-9;  // of a map where nothing differs

bool shows_pair(CompareView view) {
    return view == CompareView::difference || view == CompareView::ratio;
}

std::string pair_title(const CompareSlots& slots, const ComparedPicture& picture) {
    const std::string &a = slots.at(picture.slot).letter, &b = slots.at(picture.other).letter;
    return picture.kind == ComparedPicture::ratio ? fmt::format("exp(w): {}/{} \u2212 1", b, a)
                                                  : fmt::format("{} \u2212 {}", b, a);
}

constexpr int64_t kMostAtOnce = int64_t{1} << 20;  // cells that are drawn without a thread

}  // namespace

struct ComparePictures::PictureWork {
    size_t index = 0;
    PictureKey key;
    std::shared_ptr<const std::vector<float>> a, b;  // w; b of pairs alone
    BiasForm form;
};

struct ComparePictures::PictureAnswer {
    size_t index = 0;
    PictureKey key;
    BiasMap map;
    Range own;
};

// The limits of what is drawn.
Range ComparePictures::limits_of(const PictureKey& key, const BiasMap& map) {
    const std::vector<float> seen = seen_in(map);
    const double percentile = std::abs(key.percentile);
    if (key.kind == ComparedPicture::difference) {
        const double most = std::max(kLeastLimit, value_range(seen, percentile, true).high);
        return {-most, most};
    }
    if (key.kind == ComparedPicture::ratio)
        return quantity_limits(Quantity::exp_minus_one, seen, percentile, true);
    return quantity_limits(key.quantity, seen, percentile, key.percentile > 0);
}

// Any thread.
ComparePictures::PictureAnswer ComparePictures::draw_values(const PictureWork& work) {
    const PictureKey& key = work.key;
    const int64_t columns = work.form.columns;
    std::vector<float> values;
    if (key.kind == ComparedPicture::values)
        values = in_quantity(*work.a, columns, key.quantity);
    else
        values = pair_values(
            {.a = *work.a, .b = *work.b, .columns = columns},
            key.kind == ComparedPicture::ratio ? PairQuantity::ratio : PairQuantity::difference,
            key.quantity);
    PictureAnswer out{.index = work.index, .key = key, .map = {}, .own = {}};
    out.map = drawn_map(std::move(values), work.form, key.block);
    out.own = limits_of(key, out.map);
    return out;
}

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
    return are_there && a.w->size() != b.w->size() ? "The two maps have different sizes." : "";
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
                              ? split_column(ui.selection.compare.split, columns)
                              : -1;
    const bool is_split = picture.kind == ComparedPicture::split;  // made of what is drawn
    const PictureKey key{.kind = picture.kind,
                         .a = is_split ? pictures_[0].version : a.version,
                         .b = is_split  ? pictures_[1].version
                              : has_two ? b.version
                                        : 0,
                         .quantity = ui.selection.quantity,
                         .block = block,
                         .split = split,
                         .percentile = ui.selection.percentile * (ui.selection.symmetric ? 1 : -1)};
    if (keys_[index] == key) return;
    if (is_split) {
        BiasMap both = split_map(pictures_[0].map, pictures_[1].map, split);
        const Range own = limits_of(key, both);
        return put({.index = index, .key = key, .map = std::move(both), .own = own});
    }
    PictureWork work{.index = index, .key = key, .a = a.w, .b = b.w, .form = form};
    if (has_two && b.form->visibility.has_masks)  // a pair has no value where either is masked
        work.form.visibility.has_masks = true;
    if (form.rows * form.columns <= kMostAtOnce) return put(draw_values(work));
    if (last_ && last_->index == index && last_->key == key) return put(PictureAnswer(*last_));
    if (keys_[index].kind != key.kind) picture.map = {};  // else the old one until then
    picture.is_dimmed = true;
    is_working_ = true;
    if (work_.is_busy()) return;
    work_.start([work = std::move(work)](const auto& publish, const std::stop_token&) {
        publish(draw_values(work));
    });
}

void ComparePictures::put(PictureAnswer answer) {
    ComparedPicture& picture = pictures_[answer.index];
    keys_[answer.index] = answer.key;
    picture.map = std::move(answer.map);
    picture.own = answer.own;
    picture.version = ++versions_;
}

void ComparePictures::update(const PaneContext& ui, const CompareSlots& slots,
                             const ShownMaps& shown, std::optional<ImVec2> available) {
    if (std::exchange(dragged_.quantity, ui.selection.quantity) != ui.selection.quantity)
        dragged_.values = dragged_.difference = std::nullopt;
    available_ = available;
    is_working_ = false;
    if (!work_.is_busy()) last_ = work_.latest();
    plan(ui, slots);
    for (size_t i = 0; i < pictures_.size(); ++i) make(ui, slots, shown, i);
}

void ComparePictures::set_range(const ComparedPicture& picture, std::optional<Range> range) {
    (picture.kind == ComparedPicture::difference ? dragged_.difference
     : picture.kind == ComparedPicture::ratio    ? dragged_.ratio
                                                 : dragged_.values) = range;
}

Range ComparePictures::limits(const PaneContext& ui, const ComparedPicture& picture) const {
    if (picture.kind == ComparedPicture::difference)
        return dragged_.difference.value_or(picture.own);
    if (picture.kind == ComparedPicture::ratio) return dragged_.ratio.value_or(picture.own);
    if (dragged_.values) return *dragged_.values;
    const bool is_whole = picture.kind == ComparedPicture::values;
    if (!ui.selection.compare.links_range && is_whole) return picture.own;
    Range out = picture.own;
    for (const ComparedPicture& other : pictures_) {
        if (other.kind != ComparedPicture::values || other.map.shown.empty()) continue;
        out = {std::min(out.low, other.own.low), std::max(out.high, other.own.high)};
    }
    return out;
}

void ComparePictures::add_alike(const PaneContext& ui, const Coloring& coloring,
                                std::vector<size_t>& of) const {
    for (size_t i = 0; i < all().size(); ++i) {
        const ComparedPicture& other = all()[i];
        const bool is_new = std::ranges::find(of, i) == of.end() && !other.map.shown.empty();
        if (is_new && this->coloring(ui, other) == coloring) of.push_back(i);
    }
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
