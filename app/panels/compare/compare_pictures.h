// The pictures of a view of Compare: which maps stand side by side, with their values, titles and
// colours. Keeps what it has made until its maps, the view or the blocks change. Window thread.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/compare/compare_shown.h"
#include "app/panels/compare/compare_values.h"
#include "app/state/background.h"
#include "core/images/colormap.h"

namespace aft::app {

struct ComparedPicture {
    enum PictureKind { values, split, difference, ratio } kind = values;
    size_t slot = 0;          // the map, or the left one
    size_t other = 0;         // the second map of a pair
    std::string title, note;  // "B − A"; "mirror-1, step 50"
    BiasMap map;              // empty: there is nothing to draw
    uint64_t version = 0;
    Range own;               // limits of its values
    std::string problem;     // why it is empty; "" = it is on its way
    bool is_dimmed = false;  // an old picture while the new one is on its way
    [[nodiscard]] bool is_pair() const { return kind == difference || kind == ratio; }
};

class ComparePictures {
  public:
    // How many stand side by side in this view.
    [[nodiscard]] static size_t count(const CompareChoice& choice, size_t slots);
    // In blocks that fit where one map stands; none: single values.
    void update(const PaneContext& ui, const CompareSlots& slots, const ShownMaps& shown,
                std::optional<ImVec2> available);
    // What is drawn, from left to right, by its place in all(). swaps: H is held, the second map
    // stands in place of the first.
    [[nodiscard]] std::vector<size_t> columns(const CompareChoice& choice, bool swaps) const;
    [[nodiscard]] const std::vector<ComparedPicture>& all() const { return pictures_; }
    [[nodiscard]] Coloring coloring(const PaneContext& ui, const ComparedPicture& picture) const;
    // Those that are drawn in the same colours join `of`, also where another one is shown: flicker.
    void add_alike(const PaneContext& ui, const Coloring& coloring, std::vector<size_t>& of) const;
    // Limits that the user has dragged; none = automatic.
    void set_range(const ComparedPicture& picture, std::optional<Range> range);

    // Large maps are drawn by a thread of their own.
    [[nodiscard]] bool is_working() const { return is_working_; }

  private:
    struct PictureWork;
    struct PictureAnswer;
    struct PictureKey {
        int kind = -1;
        uint64_t a = 0, b = 0;  // versions
        Quantity quantity{};
        Blocks block;
        int64_t split = -1;
        double percentile = 0;
        [[nodiscard]] bool operator==(const PictureKey&) const = default;
    };
    void plan(const PaneContext& ui, const CompareSlots& slots);
    void make(const PaneContext& ui, const CompareSlots& slots, const ShownMaps& shown,
              size_t index);
    void put(PictureAnswer answer);
    [[nodiscard]] static PictureAnswer draw_values(const PictureWork& work);
    [[nodiscard]] static Range limits_of(const PictureKey& key, const BiasMap& map);
    [[nodiscard]] std::string problem_of(const CompareSlots& slots, const ShownMaps& shown,
                                         const ComparedPicture& picture) const;
    [[nodiscard]] Range limits(const PaneContext& ui, const ComparedPicture& picture) const;

    std::vector<ComparedPicture> pictures_;
    std::vector<PictureKey> keys_;
    uint64_t versions_ = 0;
    std::optional<ImVec2> available_;
    struct DraggedRanges {
        std::optional<Range> values, difference, ratio;
        Quantity quantity{};  // of values and difference
    } dragged_;
    bool is_working_ = false;
    std::shared_ptr<const PictureAnswer> last_;
    Background<PictureAnswer> work_;
};

}  // namespace aft::app
