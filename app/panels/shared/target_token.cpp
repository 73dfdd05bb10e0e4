#include "app/panels/shared/target_token.h"

#include <algorithm>
#include <vector>

#include "app/panels/shared/tool_row.h"
#include "app/widgets/buttons.h"

namespace aft::app {

float target_token_width(const Positions& positions) {
    return positions.prefix_tokens == 0 ? 0 : positions.prefix_tokens == 1 ? 236 : 330;
}

// A press locks it: the pointer on its way over the picture must not choose a patch again.
void target_token_tool(PaneContext& ui, const Positions& positions) {
    if (positions.prefix_tokens == 0) return;
    inline_label(ui, "Target");
    std::vector<Choice> choices = {{.text = "Patch##patch", .tip = "A patch of the picture."},
                                   {.text = "Class token##class_token",
                                    .tip = "The token before the patches whose output is the "
                                           "class: its row says which patches decide."}};
    if (positions.prefix_tokens > 1)
        choices.push_back({.text = "Distillation##distillation_token",
                           .tip = "The second token before the patches, whose output is averaged "
                                  "with that of the class token."});
    const int64_t target = ui.selection.cell.target;
    int chosen = target >= 0 && target < positions.prefix_tokens ? int(target) + 1 : 0;
    chosen = std::min(chosen, int(choices.size()) - 1);
    if (!segmented(ui, "Target##target_token", chosen, {.list = choices})) return;
    Cell cell = ui.selection.cell;
    cell.target = chosen > 0
                      ? chosen - 1
                      : positions.target_at(positions.height * 5 / 8, positions.width / 2, 0);
    cell.source = -1;
    ui.selection.lock(cell);
}

std::string target_noun(const Positions& positions, int64_t target) {
    const bool is_before = target >= 0 && target < positions.prefix_tokens;
    return is_before ? start_words(positions, target) : positions.one();
}

}  // namespace aft::app
