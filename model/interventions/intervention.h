// An intervention room: one way to change a model, for the Lab and for recipes.
// Room = one .cpp with one exported function `InterventionRoom NAME_intervention();`, listed in
// rooms.cpp. A room changes either the position bias of a layer, as a pure function of it, or the
// other weights of a layer in place. Thread of the net's owner.
#pragma once
#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "model/net/net.h"
#include "model/recipe.h"

namespace aft {

// Options of an intervention with their defaults; usage Errors name the key, what was found and
// what is allowed.
class InterventionValues {
  public:
    InterventionValues(const InterventionInfo& info, const Intervention& from)
        : info_(info), from_(from) {}
    [[nodiscard]] std::string text(const std::string& key) const;
    [[nodiscard]] double real(const std::string& key) const;
    [[nodiscard]] int64_t whole(const std::string& key) const;

  private:
    [[nodiscard]] const InterventionOption& option(const std::string& key) const;
    const InterventionInfo& info_;
    const Intervention& from_;
};

// Position bias of a layer, for a room to change.
struct BiasEdit {
    // float32, CPU: [h, T, T] target by source, or kernels [h, s] or [h, s, s]; h: of those that
    // are asked for.
    at::Tensor w;
    // bool, shape of one head of w: parameters that some target sees. Other cells stay as they are.
    at::Tensor inside;
    MixerTraits traits;  // of the layer
    bool is_causal = true;
    // Places of the sequence: row by row of a picture, channels innermost. 1 x T x 1: text, and
    // where a class token stands before the others.
    int64_t height = 1, width = 0, channels = 1;
    at::Tensor u, r;  // [T, d'], where w is their product u r^T and nothing has changed it
    InterventionValues values;
    const Net& net;  // as the interventions before left it
    int64_t layer = 0, head = -1;
    [[nodiscard]] bool is_matrix() const { return w.dim() == 3 && !traits.has_kernel(); }
};

// A layer whose weights a room changes in place.
struct WeightEdit {
    Net& net;
    int64_t layer = 0, head = -1;  // -1: all of it
    double strength = 1;
    InterventionValues values;
    // A parameter of this layer: "mixer.o.weight"; undefined: there is none.
    [[nodiscard]] at::Tensor weight(const std::string& name) const;
};

// One of the two, as edits_bias says.
struct InterventionRoom : InterventionInfo {
    // The changed w, of the same shape; a copy. usage Error where the layer's layout does not fit.
    at::Tensor (*edit_bias)(const BiasEdit& edit) = nullptr;
    void (*edit_weights)(const WeightEdit& edit) = nullptr;
};

[[nodiscard]] const std::vector<InterventionRoom>& interventions();

// usage Error on strength and options that its room does not take; layers and heads are checked
// against a model, when it is applied.
void check_intervention(const Intervention& asked);
void check_option(const InterventionOption& row, const std::string& value);

// Changes the net by what is on in the recipe, in its order; without gradients. The net must be a
// copy of one's own: nothing undoes it. usage Error "intervention 2 (blur): ..." with the key, what
// was found and what is allowed; the net is then changed in part. Cost: O(T^2) time and 16 T^2
// bytes for each layer whose bias is not a kernel.
void apply_recipe(Net& net, const Recipe& recipe);

}  // namespace aft
