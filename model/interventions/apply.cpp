// How a recipe is applied: which layers and heads an intervention is for, what of their bias may
// change, and how far.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/caught.h"
#include "core/outside.h"
#include "model/interventions/edits.h"
#include "model/interventions/intervention.h"

namespace aft {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A whole layer of w is held a few times over.
constexpr int64_t kMostValues = int64_t{1} << 28;

void check_head(const Intervention& asked, const InterventionInfo& room, int64_t heads) {
    if (asked.head < 0) return;
    if (!room.has_heads) fail_usage("head {}: it is done to whole layers", asked.head);
    if (asked.head >= heads)
        fail_usage("head {} is not in this model: 0 to {}", asked.head, heads - 1);
}

// All but the bias itself.
BiasEdit edit_of(const Net& net, const Intervention& asked, const InterventionRoom& room,
                 int64_t layer) {
    const ModelConfig& model = net.config();
    BiasEdit edit{.w = {},
                  .inside = {},
                  .traits = mixer_traits(model, layer),
                  .is_causal = model.causal(),
                  .u = {},
                  .r = {},
                  .values = InterventionValues(room, asked),
                  .net = net,
                  .layer = layer,
                  .head = asked.head};
    if (!edit.traits.has_bias())
        fail_usage("layer {} is {}: it has no position bias", layer, edit.traits.words);
    const StoredBias stored = net.mixer(layer).stored_bias(model.tokens());
    if (stored.u.defined()) {
        edit.u = stored.u.detach().to(at::kCPU);
        edit.r = stored.r.detach().to(at::kCPU);
    }
    const auto T = static_cast<double>(model.tokens());
    if (!edit.traits.has_kernel() && T * T > static_cast<double>(kMostValues))
        fail_usage("a position bias of {} x {} is too large to be changed", model.tokens(),
                   model.tokens());
    return edit;
}

void change_bias(Net& net, const InterventionRoom& room, const Intervention& asked, int64_t layer) {
    BiasEdit edit = edit_of(net, asked, room, layer);
    const at::Tensor stored = *net.mixer(layer).bias(net.config().tokens());
    // A product of factors is nobody else's.
    const bool is_new = edit.u.defined() || !stored.is_cpu() || stored.scalar_type() != at::kFloat;
    const at::Tensor own = is_new ? stored.to(at::kCPU, at::kFloat) : stored.clone();
    const at::Tensor whole = own.dim() == 2 && !edit.traits.has_kernel() ? own.unsqueeze(0) : own;
    edit.w = whole;
    take_places(edit, net.config());
    edit.inside = cells_inside(edit);
    check_head(asked, room, whole.size(0));
    if (asked.head >= 0) edit.w = whole.slice(0, asked.head, asked.head + 1);
    const at::Tensor changed = room.edit_bias(edit);
    AFT_ASSERT(changed.sizes() == edit.w.sizes());
    at::Tensor may_change = edit.w.ne(-kInfinity).logical_and_(edit.inside);
    const at::Tensor wanted =
        asked.strength == 1 ? changed : at::lerp(edit.w, changed, asked.strength);
    at::where_out(edit.w, may_change, wanted, edit.w);  // a part of `whole`, or all of it
    set_bias(net, layer, own);
}

void change_weights(Net& net, const InterventionRoom& room, const Intervention& asked,
                    int64_t layer) {
    if (task_traits(net.config()).is_bias_alone)
        fail_usage("the model is position biases alone: it has no other weights");
    check_head(asked, room, mixer_traits(net.config(), layer).heads);
    room.edit_weights({.net = net,
                       .layer = layer,
                       .head = asked.head,
                       .strength = asked.strength,
                       .values = InterventionValues(room, asked)});
}

void apply(Net& net, const Intervention& asked) {
    const InterventionRoom& room = find_room(interventions(), shown(asked.name), "intervention");
    check_intervention(asked);
    const int64_t layers = net.config().layers;
    if (asked.layer >= layers)
        fail_usage("layer {} is not in this model: 0 to {}", asked.layer, layers - 1);
    const int64_t first = std::max<int64_t>(asked.layer, 0);
    const int64_t end = asked.layer < 0 ? layers : asked.layer + 1;
    for (int64_t layer = first; layer < end; ++layer) {
        if (room.edits_bias)
            change_bias(net, room, asked, layer);
        else
            change_weights(net, room, asked, layer);
    }
}

}  // namespace

const InterventionOption& InterventionValues::option(const std::string& key) const {
    for (const InterventionOption& one : info_.options)
        if (one.key == key) return one;
    AFT_ASSERT(false);
    return info_.options.front();
}

std::string InterventionValues::text(const std::string& key) const {
    const InterventionOption& row = option(key);
    const auto found = from_.options.find(key);
    return found == from_.options.end() ? row.standard : found->second;
}

double InterventionValues::real(const std::string& key) const {
    const std::string found = text(key);
    double value = 0;
    std::from_chars(found.data(), found.data() + found.size(), value);
    return value;  // check_intervention has read it
}

int64_t InterventionValues::whole(const std::string& key) const {
    return std::llround(real(key));
}

at::Tensor WeightEdit::weight(const std::string& name) const {
    const std::string whole = fmt::format("blocks.{}.{}", layer, name);
    for (const Parameter& parameter : net.parameters())
        if (parameter.name == whole) return parameter.value;
    return {};
}

void check_intervention(const Intervention& asked) {
    const InterventionRoom& room = find_room(interventions(), shown(asked.name), "intervention");
    if (!(asked.strength >= 0 && asked.strength <= 1))
        fail_usage("strength: found {}, allowed: 0 to 1", asked.strength);
    if (!room.has_strength && asked.strength != 1)
        fail_usage("strength: found {}, allowed: 1 (it is done in full)", asked.strength);
    for (const auto& [key, value] : asked.options) {
        const InterventionOption* row = nullptr;
        std::vector<std::string> keys;
        for (const InterventionOption& one : room.options) {
            if (one.key == key) row = &one;
            keys.push_back(one.key);
        }
        if (row == nullptr)
            fail_usage("unknown option '{}'; allowed: {}", shown(key),
                       keys.empty() ? "none" : shown_names(keys));
        check_option(*row, value);
    }
}

void check_option(const InterventionOption& row, const std::string& value) {
    if (row.is_text) return;
    if (!row.choices.empty()) {
        if (std::find(row.choices.begin(), row.choices.end(), value) == row.choices.end())
            fail_usage("{}: found '{}', allowed: {}", row.key, shown(value),
                       shown_names(row.choices));
        return;
    }
    double number = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool is_read = problem == std::errc() && end == value.data() + value.size();
    const bool is_kind = is_read && (row.is_real || number == std::floor(number));
    if (!is_kind || !(number >= row.min && number <= row.max))
        fail_usage("{}: found '{}', allowed: {}{} to {}", row.key, shown(value),
                   row.is_real ? "" : "a whole number from ", row.min, row.max);
}

void apply_recipe(Net& net, const Recipe& recipe) {
    const at::NoGradGuard no_grad;
    for (size_t i = 0; i < recipe.interventions.size(); ++i) {
        const Intervention& one = recipe.interventions[i];
        if (!one.on) continue;
        with_context(fmt::format("intervention {} ({})", i + 1, shown(one.name)),
                     [&] { apply(net, one); });
    }
}

}  // namespace aft
