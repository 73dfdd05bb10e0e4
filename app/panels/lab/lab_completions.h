// LabCompletions: the first pictures of the pinned batch, their masked half completed by the
// untouched and by the changed model under the same random numbers, one completion after the other.
// Window thread, inside a frame.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "app/panels/shared/batch_losses.h"
#include "app/state/ui.h"
#include "viz/image_grid.h"

namespace aft::app {

// They fill in the mask of Complete, not the lower half.
[[nodiscard]] bool has_painted_mask(const ViewState& ui);

class LabCompletions {
  public:
    // items: of the batch, those that are there. recipe: of all that is on.
    void draw(PaneContext& ui, const std::vector<std::shared_ptr<const DataItem>>& items,
              const Recipe& recipe);

  private:
    enum Version { untouched, changed };
    struct LabSample {
        std::vector<uint8_t> tokens;  // empty: not drawn yet
        viz::TokenTexture texture;
        bool is_done = false;
    };
    struct LabColumn {
        std::shared_ptr<const DataItem> item;
        std::array<LabSample, 2> samples;
        viz::TokenTexture difference;
        double mean_levels = 0;
        bool has_difference = false;
    };
    struct SampleKey {
        std::string path;
        MeasuredStep step{};
        int64_t first = 0;
        std::vector<uint8_t> unknown;
        SampleOptions sample;
        [[nodiscard]] bool is(const SampleKey& other) const;
    };
    void renew(const PaneContext& ui, const std::vector<std::shared_ptr<const DataItem>>& items,
               const Recipe& recipe);
    void take(const ViewState& ui);
    void ask(PaneContext& ui);
    void compare(const ModelConfig& model, LabColumn& column);
    void draw_pictures(PaneContext& ui);
    struct PicturePlace {
        size_t column;
        int row, zoom;
    };
    void draw_picture(PaneContext& ui, const PicturePlace& place);
    void draw_texts(PaneContext& ui);

    SampleKey key_;
    Recipe recipe_;
    double recipe_since_ = 0;
    std::vector<LabColumn> columns_;
    size_t shown_ = 1;                // columns that fit
    int64_t asked_ = -1;              // 2 * column + version of the running one; -1 = none
    bool is_sent_ = false;            // its id is known from the next frame on
    std::vector<float> off_;          // of the column that was compared last, as an overlay
    std::vector<uint8_t> masked_;     // [height, width], what is filled in
    std::vector<double> off_levels_;  // the same in levels, NaN where the picture is given
};

}  // namespace aft::app
