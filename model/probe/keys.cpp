// keys: key feature maps exp(K) of a layer over the input, [d, T] or [h, T], each channel without
// its log-mean-exp: a constant added to a channel of K changes nothing, so every map has mean 1.
#include <ATen/ATen.h>

#include <cmath>

#include "model/probe/parts.h"

namespace aft {

ProbeRoom keys_probe();

namespace {

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const ops::Kind kind = context.net.mixer(request.layer).kind();
    if (kind == ops::Kind::softmax || kind == ops::Kind::linear)
        fail_usage("layer {} is {}: its keys are compared with queries, there are no maps exp(K)",
                   request.layer, context.net.config().mixer);
    const LayerTaps& taps = context.kept.of(context.net, request.tokens, request.layer);
    at::Tensor k = taps.k.to(at::kDouble).t();  // [d or h, T]
    const bool conv = kind == ops::Kind::conv1d || kind == ops::Kind::conv2d;
    const int64_t wanted = conv && request.head >= 0 ? request.head : request.channel;
    if (wanted >= 0) {
        probe::check_range(conv ? "head" : "channel", wanted, k.size(0));
        k = k.slice(0, wanted, wanted + 1);
    }
    const at::Tensor mean = at::logsumexp(k, {1}, true) - std::log(static_cast<double>(k.size(1)));
    const std::string quantity = probe::option(keys_probe(), request, "quantity");
    const at::Tensor shown = quantity == "k" ? k - mean : (k - mean).exp();
    probe::FieldText text;
    text.name = "keys";
    text.unit = quantity == "k" ? "nats" : "";
    text.axes = {conv ? "head" : "channel", "source"};
    text.notes = {{"quantity", quantity}, {"normalisation", "channel log-mean-exp removed"}};
    return {{probe::make_field(shown, std::move(text), context.step)}};
}

}  // namespace

ProbeRoom keys_probe() {
    return {{"keys", "key feature maps exp(K) over the input, every channel with mean 1"},
            {"quantity=exp|k (exp)"},
            true,
            run};
}

}  // namespace aft
