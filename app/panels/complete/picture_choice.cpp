#include "app/panels/complete/picture_choice.h"

#include <algorithm>
#include <numeric>

#include "app/panels/complete/completion_state.h"
#include "app/panels/shared/sample_input.h"
#include "app/state/picture_list.h"
#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/caught.h"

namespace aft::app {
namespace {

constexpr int64_t kCounts[] = {1, 2, 4, 8};

std::string why_no_several(const ViewState& ui) {
    const ImageChoice& image = ui.selection.image;
    if (!image.item && image.path.empty() && image.error.empty()) return "";  // it is being read
    if (!image.path.empty() || image.split.empty() || (image.item && !is_of_data(ui)))
        return "Several at once are examples of the data: take one by Data set first.";
    return "";
}

// So many in a row, the source the first of them where the part has as many after it.
std::vector<int64_t> row_of(const ImageChoice& image, int64_t count) {
    int64_t first = image.index;
    if (const int64_t size = image.item ? image.item->part_size : 0; size > 0) {
        first = std::clamp<int64_t>(first, 0, std::max<int64_t>(0, size - count));
        count = std::min(count, size);
    }
    std::vector<int64_t> list(static_cast<size_t>(count));
    std::iota(list.begin(), list.end(), first);
    return list;
}

}  // namespace

void PictureChoice::draw_list(PaneContext& ui, const std::string& why_not) {
    std::vector<int64_t>& list = ui.selection.completion.pictures;
    const ImageChoice& image = ui.selection.image;
    const std::vector<int64_t> shown = list.size() > 1 ? list : std::vector{image.index};
    if (shown != of_) {
        of_ = shown;
        text_ = picture_list_words(shown);
        problem_.clear();
    }
    label_column(ui, "Examples", 84);
    const TextEdit edit = text_field(
        ui,
        {.name = "Examples##examples",
         .hint = "0-7, 12",
         .why_not = why_not,
         .problem = problem_,
         .tip = "The examples of the data that are completed at once: indices and ranges. In "
                "Data set, Ctrl and a click add one, Shift and a click all up to it."},
        text_);
    if (!edit) return;
    std::vector<int64_t> typed;
    problem_ = error_words([&] { typed = parse_picture_list(text_); });
    if (!problem_.empty()) return;
    of_ = typed;
    list = typed.size() > 1 ? typed : std::vector<int64_t>();
    if (std::find(typed.begin(), typed.end(), image.index) == typed.end())
        show_sample(ui, image.split, typed.front());
}

void PictureChoice::draw(Ui& ui) {
    std::vector<int64_t>& list = ui.selection.completion.pictures;
    const std::string why = why_no_several(ui);
    const char* const tip = "Pictures that are completed at once, under the same mask.";
    const Choice counts[] = {{.text = "1", .tip = tip},
                             {.text = "2", .why_not = why, .tip = tip},
                             {.text = "4", .why_not = why, .tip = tip},
                             {.text = "8", .why_not = why, .tip = tip}};
    label_column(ui, "Pictures", 84, tip);
    const auto* const now =
        std::find(std::begin(kCounts), std::end(kCounts), std::max<size_t>(1, list.size()));
    int chosen = now == std::end(kCounts) ? -1 : int(now - kCounts);
    if (segmented(ui, "Pictures##pictures", chosen,
                  {counts, ImGui::GetContentRegionAvail().x / ui.scale}))
        list = chosen == 0 ? std::vector<int64_t>() : row_of(ui.selection.image, kCounts[chosen]);
    if (list.size() < 2) list.clear();
    draw_list(ui, why);
    if (!problem_.empty()) hint(ui, problem_);
}

}  // namespace aft::app
