// Positions of a sequence as places of a picture or a text, and back.
// Pure functions of the status. Any thread.
#pragma once
#include <cstdint>
#include <string>

#include "model/session.h"

namespace aft::app {

struct Positions {
    bool is_text = false, is_autoregressive = true, is_causal = true;
    bool is_vectors = false, has_start_token = false;  // token 0 is at the start without one
    int64_t tokens = 0;                                // T
    int64_t prefix_tokens = 0;  // of a classifier, before the patches: class, distillation token
    int64_t height = 1, width = 1, channels = 1;  // grid of the picture (patches for a classifier)

    // Of a layer, which in maps alone may have a grid of its own; -1: of the model.
    explicit Positions(const Status& status, int64_t layer = -1);

    struct GridPosition {
        int64_t y = -1, x = -1, channel = 0;  // y < 0: a token before the grid, x = -1 the last one
        [[nodiscard]] bool is_on_grid() const { return y >= 0; }
    };
    // Target t predicts sub-pixel t; source j is the input at j, that is sub-pixel j - 1 (the start
    // token at 0). Without autoregression both are the patch itself.
    [[nodiscard]] GridPosition target(int64_t t) const;
    [[nodiscard]] GridPosition source(int64_t j) const;
    [[nodiscard]] int64_t target_at(int64_t y, int64_t x, int64_t channel) const;
    [[nodiscard]] int64_t source_at(int64_t y, int64_t x, int64_t channel) const;  // -1 = none

    // What stands at a place: "byte", "pixel", "patch"; "position" where the inputs are vectors.
    [[nodiscard]] const char* one() const;
    [[nodiscard]] const char* several() const;                // "bytes"
    [[nodiscard]] std::string target_words(int64_t t) const;  // "94 (6, 9)", "182 (3, 12, G)"
    [[nodiscard]] std::string source_words(int64_t j) const;  // "0 (start)"
    [[nodiscard]] std::string place_words(const GridPosition& place) const;  // "(19, 17, G)"
    // Of all channels of its pixel: "(19, 17)"; else as place_words.
    [[nodiscard]] std::string pixel_words(const GridPosition& place) const;

  private:
    void take_grid(const MapsConfig& maps, int64_t layer);
    [[nodiscard]] GridPosition place_of(int64_t sub_pixel) const;
};

// How many sources have no place, and what the one at j is: "start token", "class token",
// "distillation token", or "token 0" where the model has no token of its own for it; "" where every
// source has a place.
[[nodiscard]] int64_t sources_before(const Positions& positions);
[[nodiscard]] const char* start_words(const Positions& positions, int64_t j = 0);

// What stands at a source's place, where the model reads the sequence one position late: "Source
// t' reads pixel t' - 1 and stands at its place; source 0 is the start token"; "" where it does
// not.
[[nodiscard]] std::string shift_words(const Positions& positions);

}  // namespace aft::app
