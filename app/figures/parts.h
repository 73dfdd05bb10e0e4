// What figure rooms share: which layers and heads are shown, rows of maps, captions. For rooms of
// app/figures only. Any thread.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "app/figures/figure.h"

namespace aft::app {

inline constexpr int64_t kMostHeads = 16, kMostLayers = 12;

// The value of an option, or its default. The values were checked by make_figure().
[[nodiscard]] std::string figure_option(const FigureRoom& room, const FigureRequest& request,
                                        const std::string& key);
// A whole number of an option with a range; `standard` where it is not given.
[[nodiscard]] int64_t figure_number_option(const FigureRequest& request, const std::string& key,
                                           Range allowed, int64_t standard);

// usage Error with the words of the room's why_not() and the model's path.
void check_can_show(const FigureRoom& room, const ModelFacts& facts);

// The request's layers, checked; none asked for: all, or twelve evenly spread.
[[nodiscard]] std::vector<int64_t> chosen_layers(const FigureRequest& request,
                                                 const ModelFacts& facts);
// Places in [0, count): the request's heads, checked; none asked for: the first sixteen.
[[nodiscard]] std::vector<int64_t> chosen_heads(const FigureRequest& request, int64_t count);

// "mirror, aft-full; step 400"
[[nodiscard]] std::string model_words(const ModelFacts& facts);
// The data asked for, or what the model was trained on. usage Error where it has neither.
[[nodiscard]] std::string figure_data(const FigureRequest& request, const ModelFacts& facts);

// The option of that probe, with a standard of the figure's own.
[[nodiscard]] ProbeOption option_of(const char* probe, const char* key, const char* standard);
// Option range=layer|figure, for figures with rows of layers.
[[nodiscard]] ProbeOption range_option();

struct LayerMaps {
    std::vector<int64_t> layers = {};
    std::vector<Field> fields = {};  // [maps, rows, columns] or [maps, cells], one for each layer
    std::vector<int64_t> maps = {};  // which of them
    int64_t rows = 0, columns = 0;   // of a map; 0: the field's last two
    bool hatches_nan = true;
    int64_t stretch = 1;
    std::string map_name = "head";  // of a column: "head 3"
    QuantityStyle style = {};
    bool shares_range = false;  // one range for the figure
};
// Rows layers, columns heads, each with its bar.
void add_map_rows(FigureResult& to, const LayerMaps& rows);

// A picture as a tile.
[[nodiscard]] FigureTile picture_tile(Image picture, std::string label);

}  // namespace aft::app
