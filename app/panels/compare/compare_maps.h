// The maps of Compare: side by side, flicker, split line, difference, ratio, with linked zoom and
// pan, titles and colour bars. Window thread, inside a frame.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/compare/compare_pictures.h"
#include "app/widgets/text.h"
#include "core/images/colormap.h"
#include "viz/map.h"

namespace aft::app {

// Where maps stand side by side, in pixels.
struct MapColumns {
    float width = 0, gap = 0;  // of each; between two
};
[[nodiscard]] MapColumns map_columns(const DrawContext& ui, size_t count, float all);

class CompareMaps {
  public:
    // In so many pixels; bars included.
    void draw(PaneContext& ui, CompareSlots& slots, const ShownMaps& shown, ImVec2 area);
    [[nodiscard]] bool is_working() const { return pictures_.is_working(); }
    void fit();                                         // the whole maps
    void show(const BiasForm& form, const Cell& cell);  // scrolls all maps there, in single cells
    // "1:3", "2 px / cell": of the maps as they were drawn last.
    [[nodiscard]] const std::string& scale_words() const { return scale_words_; }

  private:
    static constexpr size_t kMost = CompareChoice::kMostSlots;
    struct MapColumn {
        size_t picture = 0, place = 0;  // in the list of pictures; from the left
        ImVec2 at, size;                // of title and map
    };
    struct BarValues {  // of a colour bar, and what it was made of
        std::vector<uint64_t> versions;
        Coloring coloring;
        Distribution values;
        std::vector<float> heights;
        ClippedShare clipped;
        bool is_zero = false;  // all of them
    };
    void draw_title(PaneContext& ui, const CompareSlots& slots, const ShownMaps& shown,
                    const MapColumn& column);
    void draw_map(PaneContext& ui, const CompareSlots& slots, const ShownMaps& shown,
                  const MapColumn& column);
    void draw_problem(PaneContext& ui, CompareSlots& slots, const MapColumn& column);
    void take_pointer(ViewState& ui, const BiasForm& form, const ComparedPicture& picture,
                      const viz::MapReply& reply);
    void draw_split(PaneContext& ui, const viz::MapReply& reply, const MapColumn& column);
    void draw_bar(PaneContext& ui, std::vector<size_t> of, ImVec2 at, float width);
    [[nodiscard]] const BarValues& bar_values(const std::vector<size_t>& of,
                                              const Coloring& coloring);
    void link(const ViewState& ui, size_t place);

    ComparePictures pictures_;
    std::array<viz::Map, kMost> maps_;
    std::array<BarValues, kMost> bars_;
    bool is_blocked_ = false;  // what was drawn last
    bool exact_ = false;       // single cells although the whole map does not fit
    bool is_low_ = false;      // the bars have no histogram
    std::string scale_words_;
};

}  // namespace aft::app
