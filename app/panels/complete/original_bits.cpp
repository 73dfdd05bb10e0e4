#include "app/panels/complete/original_bits.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "app/panels/shared/completion_readings.h"

namespace aft::app {
namespace {

// What is known of the completion is the picture that is looked at.
bool is_of_picture(const PaneContext& ui, const Completion& completion) {
    const auto& item = ui.selection.image.item;
    const size_t total = completion.unknown.size();
    if (is_text_model(ui) || !item || item->tokens.size() != total || completion.samples.empty())
        return false;
    const std::vector<uint8_t>& sample = completion.samples.front();
    if (sample.size() < total) return false;
    for (size_t i = 0; i < total; ++i)
        if (completion.unknown[i] == 0 && sample[i] != item->tokens[i]) return false;
    return true;
}

}  // namespace

const std::vector<float>& OriginalBits::update(const PaneContext& ui,
                                               const Completion& completion) {
    constexpr double kHold_s = 2;
    values_.clear();
    why_ = "These are completions of another picture than the one that is looked at.";
    if (!is_of_picture(ui, completion)) return values_;
    const std::vector<uint8_t>& tokens = ui.selection.image.item->tokens;
    ProbeRequest request;
    request.probe = "predictions";
    request.step = ui.selection.step;
    request.tokens = tokens;
    AskTurn turn;
    (void)watch_.update(ui, request, turn, kHold_s);
    why_ = watch_.error().empty() ? "Reading the bits of the original." : watch_.error();
    if (!watch_.is_current() || watch_.fields()->fields.empty()) return values_;
    const Field& field = watch_.fields()->fields.front();
    const auto levels = static_cast<size_t>(field.extent(1));
    if (field.values.size() != tokens.size() * levels) return values_;
    why_.clear();
    values_.assign(tokens.size(), std::numeric_limits<float>::quiet_NaN());
    for (size_t i = 0; i < tokens.size(); ++i)
        if (completion.unknown[i] != 0 && tokens[i] < levels)
            values_[i] = -field.values[i * levels + tokens[i]] / std::numbers::ln2_v<float>;
    return values_;
}

double OriginalBits::mean() const {
    double sum = 0;
    int64_t count = 0;
    for (const float bits : values_) {
        if (std::isnan(bits)) continue;
        sum += bits;
        ++count;
    }
    return count > 0 ? sum / double(count) : std::nan("");
}

}  // namespace aft::app
