// Overlays: bare windows for bars, cards over everything, and what the cards share. Window thread,
// inside a frame.
#pragma once
#include <imgui.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "app/state/draw_context.h"

namespace aft::app {

// A bare window at a place of the display: bars, overlays.
class BarScope {
  public:
    struct Place {
        ImVec2 at, size;
        ImU32 ground = 0;
        ImVec2 padding{0, 0};
    };
    BarScope(const char* name, const Place& place);
    ~BarScope();
    BarScope(const BarScope&) = delete;
    BarScope& operator=(const BarScope&) = delete;
};
// A card over everything (palette, browser, key list): ground raised, strong border, dimmed behind.
class OverlayScope {
  public:
    OverlayScope(const DrawContext& ui, const char* name, ImVec2 at, ImVec2 size);
    ~OverlayScope();
    OverlayScope(const OverlayScope&) = delete;
    OverlayScope& operator=(const OverlayScope&) = delete;
    [[nodiscard]] bool is_left() const { return is_left_; }  // a click beside the card

  private:
    bool is_left_ = false;
};

// A card with a heading in the middle, near the top. `size` in pixels at scale 1; cut to the
// display.
class CardScope {
  public:
    struct Card {
        const char *name, *heading;
        ImVec2 size;
    };
    CardScope(DrawContext& ui, ImVec2 display, const Card& card);
    ~CardScope();
    CardScope(const CardScope&) = delete;
    CardScope& operator=(const CardScope&) = delete;
    [[nodiscard]] bool is_left() const { return is_left_; }  // by Esc or a click beside the card

  private:
    OverlayScope overlay_;
    bool is_left_ = false;
};
// Moves the cursor to the place of the buttons at the foot of a card.
void to_card_foot(const DrawContext& ui);

// The keys of an action on a ground of their own, its right end at `right`.
void draw_keys(DrawContext& ui, float right, float middle, const std::string& shortcut);
// Where a card proposes its file: the folder of the last one, else the folder used last, else that
// of the program.
[[nodiscard]] std::filesystem::path proposed_folder(const std::string& last_file,
                                                    const std::string& last_folder);
// Cancel and Save at the right end of a card that writes a file. Enter in its field counts as Save.
struct SaveButtons {
    std::string why_not, tip;  // of Save
    bool is_submitted = false;
};
enum class CardAnswer { none, cancel, save };
[[nodiscard]] CardAnswer save_buttons(DrawContext& ui, const SaveButtons& buttons);
// Why a card refuses what it was asked, in the colour of errors.
void draw_problem(DrawContext& ui, const std::string& words);
// The line at the foot of a card.
void draw_card_foot(DrawContext& ui, std::string_view words);

}  // namespace aft::app
