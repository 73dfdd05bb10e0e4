// ExampleGrid: a page of the examples of a data set: small pictures, or rows with the first lines
// of its texts, each with index and class. A click takes one; arrow keys go from one to the next,
// Page Up and Page Down to other pages. Draws what it is given, inside a popup. Window thread.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/state/draw_context.h"
#include "core/images/image.h"
#include "model/data_item.h"
#include "viz/image_grid.h"

namespace aft::app {

inline constexpr int64_t kExamplesOfPage = 48;
// What a page takes at scale 1, whatever is on it: a popup that grew would leave the window.
inline constexpr float kExampleGridWidth = 576, kExampleGridHeight = 540;
// The same of texts, whose rows scroll, in pixels: less in a small window.
[[nodiscard]] ImVec2 example_texts_size(const DrawContext& ui);

// How the tokens of an example are read.
struct ExampleForm {
    bool is_text = false;
    int64_t height = 0, width = 0, channels = 1, levels = 256;
    std::vector<uint8_t> alphabet{};  // texts: the byte of each token; empty = it is the token
    std::vector<std::string> class_names{};
};

// Of one page, in their order; null = not there yet.
using ExampleItems = std::vector<std::shared_ptr<const DataItem>>;

// "60 horse": index, and the class where the example has one.
[[nodiscard]] std::string example_words(const ExampleForm& form, const DataItem& item,
                                        int64_t index);

class ExampleGrid {
  public:
    struct Page {
        const ExampleForm& form;
        const ExampleItems& items;
        int64_t first = 0, chosen = -1;     // index of the first one; of the one that is marked
        std::span<const int64_t> others{};  // of those that are chosen beside it
    };
    // The index that was taken.
    std::optional<int64_t> draw(DrawContext& ui, const Page& page);

  private:
    struct CellSize {
        ImVec2 all;
        float index = 0;                 // of texts: the column with the index
        int64_t lines = 0, letters = 0;  // of texts; letters of a line
    };
    std::optional<int64_t> draw_pictures(DrawContext& ui, const Page& page);
    std::optional<int64_t> draw_texts(DrawContext& ui, const Page& page);
    [[nodiscard]] static CellSize text_cell_size(const DrawContext& ui, const Page& page,
                                                 float width);
    bool draw_cell(DrawContext& ui, const Page& page, size_t slot, const CellSize& size);
    void draw_picture(const DrawContext& ui, const viz::Box& cell, size_t slot);
    void take_new(const DrawContext& ui, const Page& page);
    int64_t shown_ = -1;        // the chosen text that was brought into view
    int side_ = 0;              // display pixels of a picture
    ExampleItems drawn_;        // that the tiles are of
    std::vector<Image> tiles_;  // RGBA, empty = none
    viz::TokenTexture sheet_;   // all tiles side by side
};

// The line of pages: two buttons, "48 to 95 of 10 000", the page keys. The first index of the page
// that is asked for now. size: of the part, 0 = not known yet.
[[nodiscard]] int64_t example_pages(DrawContext& ui, int64_t first, int64_t size);
// Of the page that an index stands on.
[[nodiscard]] int64_t page_first(int64_t index);

}  // namespace aft::app
