// Own text: what the user types or pastes as the input that a text model looks at, in place of an
// example of its data. Window thread; returns at once.
#pragma once
#include <string>

#include "app/state/ui.h"

namespace aft::app {

// "" = the text can be looked at.
[[nodiscard]] std::string why_no_own_text(const ModelView& ui, const std::string& text);
// How much of it the model reads: "12 bytes; spaces follow, up to 256."
[[nodiscard]] std::string own_text_words(const ModelView& ui, const std::string& text);
// What Attention and Keys show becomes its first T bytes; behind a shorter one stand spaces, which
// no position of it sees. The target stays, or becomes its last byte.
void show_own_text(ViewState& ui, const std::string& text);

// The text that the selection names, as of a saved view, becomes its item or its error.
void load_own_text(ViewState& ui);

// The field, a button and what becomes of the text. True: it is looked at now.
class OwnTextField {
  public:
    [[nodiscard]] bool draw(PaneContext& ui, float width);  // pixels

  private:
    std::string text_;
};

}  // namespace aft::app
