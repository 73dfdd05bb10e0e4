#include "tests/viz/scenes.h"

#include <cmath>

#include "core/rng.h"

namespace aft::viz {

std::vector<std::vector<float>> window_maps(int count) {
    std::vector<std::vector<float>> maps;
    for (int m = 0; m < count; ++m) {
        CounterRng rng(11, uint64_t(m));
        const double cy = 3 + 5 * rng.uniform(), cx = 3 + 5 * rng.uniform(), kind = rng.uniform();
        std::vector<float> map;
        for (int y = 0; y < 11; ++y)
            for (int x = 0; x < 11; ++x) {
                const double r = std::hypot(y - cy, x - cx);
                double v = kind < 0.4   ? 5 * std::exp(-r * r / 2)
                           : kind < 0.6 ? 4 * std::exp(-std::pow(std::hypot(y - 5, x - 5) - 3, 2))
                           : kind < 0.8 ? 3 * std::exp(-std::pow(x - cx + (y - cy) / 3, 2))
                                        : 2 * std::exp(-std::pow(y - cy, 2));
                v += -0.35 + 0.15 * rng.normal();
                map.push_back(float(std::max(v, -0.95)));
            }
        maps.push_back(std::move(map));
    }
    return maps;
}

AtlasScene::AtlasScene() {
    for (int r = 0; r < 12; ++r) rows.push_back("L" + std::to_string(r));
    for (int c = 0; c < 16; ++c) columns.push_back("h" + std::to_string(c));
    for (size_t i = 0; i < maps.size(); ++i) {
        AtlasCell cell;
        cell.data = {.values = maps[i], .rows = 11, .columns = 11, .hidden = {}, .version = 1};
        cell.coloring = {{-1, 5.5}, Scale::signed_log, Colormap::ember_dark};
        cell.pinned = i == 3 * 16 + 7;
        cells.push_back(cell);
    }
}

void AtlasScene::draw(const Look& look, ImVec2 area) {
    for (AtlasCell& cell : cells) cell.coloring.map = look.theme.diverging;
    AtlasView view;
    view.shape = {.rows = 12,
                  .columns = 16,
                  .tile_rows = 11,
                  .tile_columns = 11,
                  .row_label = look.px(34),
                  .column_label = look.px(24),
                  .row_bar = look.px(134)};
    view.cells = cells;
    view.row_labels = rows;
    view.column_labels = columns;
    view.area = area;
    view.selected_row = 3;
    view.selected_column = 7;
    reply = atlas.draw(view, look);
}

CurveScene::CurveScene(int points) {
    CounterRng rng(5, 6);
    for (int i = 0; i < points; ++i) {
        x.push_back(i * 10.0);
        const double v = 2.8 + 3 * std::exp(-i / (points / 8.0));
        loss.push_back(v + 0.12 * rng.normal());
        low.push_back(v - 0.3);
        high.push_back(v + 0.3);
        if (i % (points / 20) != 0) continue;
        validation_x.push_back(i * 10.0);
        validation.push_back(v + 0.05);
    }
}

void CurveScene::draw(const Look& look, ImVec2 size, bool log_y) {
    CurvePlot plot;
    plot.title = "Loss";
    plot.unit = "bits/dim";
    plot.size = size;
    plot.log_y = log_y;
    Curve train;
    train.label = "train";
    train.x = x;
    train.y = loss;
    train.low = low;
    train.high = high;
    train.color = look.theme.series[0];
    train.smoothing = 0.97;
    Curve val;
    val.label = "validation";
    val.x = validation_x;
    val.y = validation;
    val.color = look.theme.series[1];
    val.dots = true;
    plot.curves = {train, val};
    plot.events = {{x[x.size() / 3], "learning rate 1e-4", look.theme.series[1]}};
    reply = draw_curves(plot, look);
}

}  // namespace aft::viz
