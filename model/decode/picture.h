// Pictures and tokens: a file becomes the model's levels, levels become a picture. Any thread.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/images/image.h"
#include "model/config.h"

namespace aft {

// A picture as the model takes it.
struct FittedPicture {
    std::vector<uint8_t> tokens;
    // "640 x 480 pixels: cropped to 480 x 480, resized to 32 x 32, in grey"; "" = as it was.
    std::string changes;
};
// Centre-cropped and area-resized to the model; value v becomes level floor(v * levels / 256).
[[nodiscard]] FittedPicture fit_picture(const Image& image, const ModelConfig& model);
// Level l is drawn as round(255 l / (levels - 1)).
[[nodiscard]] Image tokens_picture(const std::vector<uint8_t>& tokens, const ModelConfig& model);
// Non-zero = to be filled, size = the model's; [T] with one entry per sub-pixel.
[[nodiscard]] std::vector<uint8_t> mask_of(const Image& mask, const ModelConfig& model,
                                           const std::string& path);

// Bytes to tokens and back (alphabet: byte of each token; empty = all 256). A byte outside the
// alphabet is a usage Error that names it.
[[nodiscard]] std::vector<uint8_t> text_tokens(const std::string& text,
                                               const std::vector<uint8_t>& alphabet);
[[nodiscard]] std::string tokens_text(const std::vector<uint8_t>& tokens,
                                      const std::vector<uint8_t>& alphabet);

}  // namespace aft
