// CompletionStrip: a completion as a standing experiment: what was given and one small picture for
// every saved step; of a text the first line that was added. Window thread, inside a frame.
#pragma once
#include <map>
#include <string>

#include "app/panels/train/completion_series.h"
#include "viz/image_grid.h"

namespace aft::app {

// "validation 3 · T 1.00, seed 1"
[[nodiscard]] std::string completion_words(const WatchedCompletion& one);

class CompletionStrip {
  public:
    // As CompletionSeries.
    bool update(PaneContext& ui, const WatchedCompletion& watched, bool may_ask) {
        return series_.update(ui, watched, may_ask);
    }
    // index: of the experiment, in the ids of what is drawn. A click shows the step everywhere.
    void draw(PaneContext& ui, const WatchedCompletion& watched, size_t index);

  private:
    void draw_pictures(PaneContext& ui, const WatchedCompletion& watched, size_t index);
    void draw_texts(PaneContext& ui, size_t index);

    CompletionSeries series_;
    viz::TokenTexture source_;
    struct Pictured {
        std::shared_ptr<const Completion> of;
        viz::TokenTexture texture;
    };
    std::map<int64_t, Pictured> textures_;  // by step
};

}  // namespace aft::app
