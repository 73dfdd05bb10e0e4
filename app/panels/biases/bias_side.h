// The right third of Focus: the target's row folded into the picture, the profile over offsets or
// distance, and the map at several stored steps. Window thread.
#pragma once
#include <optional>
#include <vector>

#include "app/panels/biases/bias_by_step.h"
#include "app/panels/biases/bias_tools.h"
#include "app/panels/shared/fold.h"
#include "viz/curves.h"
#include "viz/map.h"

namespace aft::app {

class BiasSide {
  public:
    void draw(PaneContext& ui, const BiasForm& form, BiasLayers& layers, const viz::Box& box);
    // The exact value of one cell of a block, when its row is here: "value +0.0226".
    void add_exact(const ViewState& ui, const BiasReading& reading,
                   std::vector<ReadOut>& out) const;

  private:
    struct FoldSize {  // pixels: of all channels, of each; below: at scale 1
        float all = 0, gap = 0, below = 0, each = 0, tall = 0;
    };
    [[nodiscard]] static FoldSize fold_size(const DrawContext& ui, const Positions& positions,
                                            const Folded& shape, ImVec2 most);
    void draw_fold(PaneContext& ui, const BiasForm& form, BiasLayers& layers, ImVec2 most);
    void draw_channels(PaneContext& ui, const Positions& positions, const Coloring& coloring,
                       const FoldSize& fold);
    void draw_profile(PaneContext& ui, const BiasForm& form, BiasLayers& layers, ImVec2 size);
    void make_profile(const ViewState& ui, const BiasForm& form, const BiasLayers& layers);
    void draw_over_training(PaneContext& ui, const BiasForm& form, BiasLayers& layers, ImVec2 size);

    uint64_t opened_ = 0;  // whose rows and moments these are
    std::optional<BiasForm> form_;
    struct RowWatch {
        Watch now{}, before{};  // before: at the pinned step
        bool is_change = false;
        int64_t target = -1;
    } row_;
    std::vector<Folded> folded_;  // one per channel
    std::vector<viz::Map> maps_;
    uint64_t versions_ = 0;
    struct Profile {
        uint64_t version = 0;  // of the layer it was made of
        int64_t layer = -1, head = -1;
        std::vector<double> x{}, mean{}, low{}, high{};
    } profile_;
    std::vector<BiasMoment> trace_;
    BiasBySteps by_step_;
};

}  // namespace aft::app
