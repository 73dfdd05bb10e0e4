// Scenes with known contents that several tests draw.
#pragma once
#include <string>
#include <vector>

#include "tests/viz/stage.h"
#include "viz/atlas.h"
#include "viz/curves.h"
#include "viz/map.h"

namespace aft::viz {

// Maps of a window of 11 x 11: rings, bars and blobs around a negative ground.
[[nodiscard]] std::vector<std::vector<float>> window_maps(int count);

struct AtlasScene {
    std::vector<std::vector<float>> maps = window_maps(12 * 16);
    std::vector<AtlasCell> cells;
    std::vector<std::string> rows, columns;
    Atlas atlas;
    AtlasReply reply;
    AtlasScene();
    void draw(const Look& look, ImVec2 area);
};

struct CurveScene {
    std::vector<double> x, loss, validation_x, validation, low, high;
    CurveReply reply;
    explicit CurveScene(int points);
    void draw(const Look& look, ImVec2 size, bool log_y);
};

}  // namespace aft::viz
