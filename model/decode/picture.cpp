#include "model/decode/picture.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/outside.h"

namespace aft {

FittedPicture fit_picture(const Image& image, const ModelConfig& model) {
    if (model.channels != 1 && model.channels != 3)
        fail_usage("this model has {} channels; pictures have 1 or 3", model.channels);
    const Image coloured = model.channels == 1 ? to_grey(image) : to_rgb(image);
    const Image cropped = crop_to_aspect(coloured, model.width, model.height);
    const Image fitted = resize_area(cropped, model.width, model.height);
    std::vector<std::string> changes;
    const auto has_size_of = [](const Image& a, const Image& b) {
        return a.width == b.width && a.height == b.height;
    };
    if (!has_size_of(cropped, image))
        changes.push_back(fmt::format("cropped to {} x {}", cropped.width, cropped.height));
    if (!has_size_of(fitted, cropped))
        changes.push_back(fmt::format("resized to {} x {}", fitted.width, fitted.height));
    if (model.channels == 1 && image.channels > 1) changes.emplace_back("in grey");
    FittedPicture out{.tokens = fitted.pixels, .changes = ""};
    for (uint8_t& v : out.tokens) v = static_cast<uint8_t>(v * model.levels / 256);
    if (!changes.empty())
        out.changes =
            fmt::format("{} x {} pixels: {}", image.width, image.height, fmt::join(changes, ", "));
    return out;
}

Image tokens_picture(const std::vector<uint8_t>& tokens, const ModelConfig& model) {
    AFT_CHECK(model.channels == 1 || model.channels == 3,
              "this model has {} channels; pictures have 1 or 3", model.channels);
    AFT_ASSERT(static_cast<int64_t>(tokens.size()) == model.height * model.width * model.channels);
    Image image{model.width, model.height, model.channels, tokens};
    const double top = static_cast<double>(std::max<int64_t>(model.levels - 1, 1));
    for (uint8_t& v : image.pixels) v = static_cast<uint8_t>(std::lround(255.0 * v / top));
    return image;
}

std::vector<uint8_t> mask_of(const Image& mask, const ModelConfig& model, const std::string& path) {
    if (mask.width != model.width || mask.height != model.height)
        fail_usage("mask {}: found {} x {} pixels; this model needs {} x {}", path, mask.width,
                   mask.height, model.width, model.height);
    std::vector<uint8_t> unknown;
    const auto channels = static_cast<size_t>(mask.channels);
    for (size_t at = 0; at < mask.pixels.size(); at += channels) {
        const auto first = mask.pixels.begin() + static_cast<ptrdiff_t>(at);
        const bool fill = std::any_of(first, first + static_cast<ptrdiff_t>(channels),
                                      [](uint8_t v) { return v != 0; });
        unknown.insert(unknown.end(), static_cast<size_t>(model.channels), fill ? 1 : 0);
    }
    return unknown;
}

std::vector<uint8_t> text_tokens(const std::string& text, const std::vector<uint8_t>& alphabet) {
    std::vector<uint8_t> tokens;
    for (size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<uint8_t>(text[i]);
        const auto found = std::find(alphabet.begin(), alphabet.end(), byte);
        if (!alphabet.empty() && found == alphabet.end())
            fail_usage("the text holds byte {} at {}; this model knows {} bytes and not this one",
                       byte, i, alphabet.size());
        tokens.push_back(alphabet.empty() ? byte : static_cast<uint8_t>(found - alphabet.begin()));
    }
    return tokens;
}

std::string tokens_text(const std::vector<uint8_t>& tokens, const std::vector<uint8_t>& alphabet) {
    std::string text;
    for (const uint8_t token : tokens) {
        const bool known = token < alphabet.size();
        text += static_cast<char>(alphabet.empty() || !known ? token : alphabet[token]);
    }
    return text;
}

}  // namespace aft
