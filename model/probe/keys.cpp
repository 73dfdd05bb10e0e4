// keys: key feature maps exp(K) of a layer over the input, [d, T] or [h, T], each channel without
// its log-mean-exp: a constant added to a channel of K changes nothing, so every map has mean 1.
#include <ATen/ATen.h>

#include <cmath>

#include "model/probe/parts.h"

namespace aft {

ProbeRoom keys_probe();

namespace {

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const MixerTraits traits = mixer_traits(context.net.config());
    const LayerTaps& taps =
        probe::layer_taps(context, request, traits.has_key_maps, traits.no_keys);
    AFT_CHECK(taps.k.defined(), "layer {} ({}) does not show its keys", request.layer,
              context.net.config().mixer);
    at::Tensor k = context.net.mixer(request.layer).key_maps(taps);  // [d or h, T]
    const bool by_head = traits.keys_by_head;
    const int64_t wanted = by_head && request.head >= 0 ? request.head : request.channel;
    if (wanted >= 0) {
        probe::check_range(by_head ? "head" : "channel", wanted, k.size(0));
        k = k.slice(0, wanted, wanted + 1);
    }
    const at::Tensor mean = at::logsumexp(k, {1}, true) - std::log(static_cast<double>(k.size(1)));
    const std::string quantity = probe::option(keys_probe(), request, "quantity");
    const at::Tensor shown = quantity == "k" ? k - mean : (k - mean).exp();
    probe::FieldText text;
    text.name = "keys";
    text.unit = quantity == "k" ? "nats" : "";
    text.axes = {by_head ? "head" : "channel", "source"};
    text.notes = {{"quantity", quantity}, {"normalisation", "channel log-mean-exp removed"}};
    return {{probe::make_field(shown, std::move(text), context.step)}};
}

}  // namespace

ProbeRoom keys_probe() {
    return {.info = {"keys", "key feature maps exp(K) over the input, every channel with mean 1"},
            .options = {{"quantity", {"exp", "k"}, "exp"}},
            .needs = ProbeNeeds::input,
            .folds_sources = true,
            .run = run};
}

}  // namespace aft
