#include "app/panels/complete/sample_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/shared/completion_readings.h"
#include "core/text.h"
#include "viz/text_map.h"

namespace aft::app {

viz::TokenImage sample_image(const ModelConfig& model, const Completion& completion,
                             size_t sample) {
    return {.tokens = completion.samples[sample],
            .height = model.height,
            .width = model.width,
            .channels = model.channels,
            .levels = model.levels,
            .known = completion.position < completion.total ? completion.position : -1,
            .unknown = completion.unknown};
}

std::vector<uint8_t> changed_pixels(const ModelConfig& model, const CompletionChoice& choice,
                                    const Completion& now, size_t sample) {
    const Completion* const before = choice.changed.before.get();
    if (before == nullptr || before->unknown != now.unknown || sample >= before->samples.size())
        return {};
    const std::vector<uint8_t>&old = before->samples[sample], &drawn = now.samples[sample];
    if (old.size() != drawn.size()) return {};
    std::vector<uint8_t> changed(static_cast<size_t>(model.height * model.width));
    bool is_any = false;
    for (size_t i = 0; i < drawn.size(); ++i) {
        if (old[i] == drawn[i]) continue;
        if (now.unknown[i] == 0) return {};  // another picture
        if (static_cast<int64_t>(i) >= std::min(now.position, before->position)) continue;
        changed[i / static_cast<size_t>(model.channels)] = 1;
        is_any = true;
    }
    return is_any ? changed : std::vector<uint8_t>();
}

std::vector<ReadOut> pixel_read_outs(const Completion& completion, size_t sample, viz::MapCell at,
                                     const ModelConfig& model) {
    const auto first = static_cast<size_t>((at.row * model.width + at.column) * model.channels);
    const auto channels = static_cast<size_t>(model.channels);
    std::string levels, bits, exact;
    bool is_sampled = false, has_bits = false;
    for (size_t i = first; i < first + channels; ++i) {
        const char* const gap = i > first ? " " : "";
        const bool is_there =
            static_cast<int64_t>(i) < completion.position || completion.unknown[i] == 0;
        is_sampled |= is_there;
        levels += gap + (is_there ? std::to_string(completion.samples[sample][i]) : "\u2013");
        const float surprise = completion.surprise[sample][i];
        const bool is_known = std::isfinite(surprise);
        has_bits |= is_known;
        bits += gap + (is_known ? plain_number(surprise, 2) : "\u2013");
        exact += gap + (is_known ? exact_number(surprise) : "\u2013");
    }
    std::vector<ReadOut> out = {{"pixel", fmt::format("{}, {}", at.row, at.column)},
                                {"level", is_sampled ? levels : "not sampled yet"}};
    if (has_bits) out.push_back({"surprise", bits + " bit", exact});
    return out;
}

std::vector<ReadOut> byte_read_outs(const ModelView& ui, const Completion& completion,
                                    size_t sample, int64_t byte) {
    const auto i = static_cast<size_t>(byte);
    const std::vector<uint8_t> shown = shown_bytes(ui, completion.samples[sample], i + 1);
    std::vector<ReadOut> out{{"byte", fmt::format("{} {}", byte, viz::byte_words(shown.back()))}};
    const auto add = [&](const char* name, const std::vector<float>& values) {
        if (i < values.size() && std::isfinite(values[i]))
            out.push_back({name, plain_number(values[i], 2) + " bit", exact_number(values[i])});
    };
    add("surprise", completion.surprise[sample]);
    add("entropy", completion.entropy[sample]);
    return out;
}

}  // namespace aft::app
