#include "app/figures/figure.h"

namespace aft::app {

FigureRoom relative_attention_figure();
FigureRoom conv_biases_figure();
FigureRoom full_biases_figure();
FigureRoom completions_figure();
FigureRoom keys_figure();
FigureRoom window_curve_figure();
FigureRoom training_curves_figure();

const std::vector<FigureRoom>& figures() {
    static const std::vector<FigureRoom> rooms{
        relative_attention_figure(), conv_biases_figure(), full_biases_figure(),
        completions_figure(),        keys_figure(),        window_curve_figure(),
        training_curves_figure()};
    return rooms;
}

}  // namespace aft::app
