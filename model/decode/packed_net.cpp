// Packing. bf16 rounds to the nearest even. int8 has one step per output, the largest weight of the
// row over 127. What that costs depends on the model: `complete --weights` measures and says it.
#include "model/decode/packed_net.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/check.h"
#include "model/net/net.h"
#include "model/nn/embedding.h"

namespace aft::decode {

namespace {

using ops::cpu::decode_kernels;
using ops::cpu::DecodeMatrix;
using ops::cpu::kDecodeBlock;

int64_t rounded_up(int64_t n, int64_t to) {
    return (n + to - 1) / to * to;
}

class Packer {
  public:
    Packer(const Net& net, WeightFormat format)
        : net_(net), format_(format), arena_(most_bytes()) {}

    [[nodiscard]] const at::Tensor* find(const std::string& name) const {
        for (const Parameter& parameter : net_.parameters())
            if (parameter.name == name) return &parameter.value;
        return nullptr;
    }
    [[nodiscard]] const float* data(const std::string& name) const {
        const at::Tensor* const tensor = find(name);
        AFT_CHECK(tensor != nullptr, "the net has no parameter {}", name);
        return tensor->const_data_ptr<float>();
    }
    [[nodiscard]] PackedNorm norm(const std::string& name) const {
        const auto d = static_cast<size_t>(net_.config().dim);
        const float *weight = data(name + ".weight"), *bias = data(name + ".bias");
        return {{weight, weight + d}, {bias, bias + d}};
    }
    [[nodiscard]] std::optional<PackedMatrix> maybe(const std::string& name) {
        if (find(name + ".weight") == nullptr) return {};
        return matrix(name, format_);
    }
    [[nodiscard]] PackedMatrix matrix(const std::string& name, WeightFormat format);
    [[nodiscard]] PackedBias bias(const std::string& name) const;
    [[nodiscard]] PackedLayer layer(int64_t index, bool has_bias);
    [[nodiscard]] HugePageArena arena() { return std::move(arena_); }
    // [rows, d] -> [rows, width]
    [[nodiscard]] std::vector<float> table(const std::string& name, int64_t width) const;
    [[nodiscard]] std::vector<float> rows(const at::Tensor& from, int64_t width) const;

  private:
    // Upper bound, all matrices in float32; pages that are not touched cost nothing.
    [[nodiscard]] int64_t most_bytes() const {
        const int64_t panel = decode_kernels().panel;
        int64_t bytes = 0;
        for (const Parameter& parameter : net_.parameters())
            if (parameter.value.dim() == 2)
                bytes += rounded_up(parameter.value.size(0), panel) *
                             rounded_up(parameter.value.size(1), 4) * 4 +
                         kCacheLineBytes;
        return bytes;
    }
    const Net& net_;
    WeightFormat format_;
    HugePageArena arena_;
};

uint32_t as_bf16(float x) {
    const auto bits = std::bit_cast<uint32_t>(x);
    if (std::isnan(x)) return 0x7fc0;
    return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

// One output row of weights as the words of its panel: one input, two or four in each.
struct WordRow {
    std::vector<uint32_t> words;
    std::vector<int8_t> steps = {};  // int8, four more than needed
    float scale = 0;
    int32_t sum = 0;
};

void put_steps(const float* row, int64_t inputs, WordRow& out) {
    float most = 0;
    bool finite = true;
    for (int64_t i = 0; i < inputs; ++i) {
        finite = finite && std::isfinite(row[i]);
        most = std::max(most, std::abs(row[i]));
    }
    AFT_CHECK(finite, "a weight is not a number: it has no int8 form");
    out.scale = most > 0 ? most / 127 : 1;
    out.sum = 0;
    out.steps.assign(static_cast<size_t>(inputs + 4), 0);
    for (int64_t i = 0; i < inputs; ++i) {
        const float steps = std::clamp(row[i] / out.scale, -127.0F, 127.0F);
        const auto step = static_cast<int32_t>(steps + std::copysign(0.5F, steps));
        out.steps[static_cast<size_t>(i)] = static_cast<int8_t>(step);
        out.sum += step;
    }
    std::memcpy(out.words.data(), out.steps.data(), out.words.size() * 4);
}

void put_words(const float* row, int64_t inputs, WeightFormat format, WordRow& out) {
    if (format == WeightFormat::int8) return put_steps(row, inputs, out);
    if (format == WeightFormat::fp32) std::memcpy(out.words.data(), row, out.words.size() * 4);
    if (format != WeightFormat::bf16) return;
    for (int64_t i = 0; i < inputs; i += 2)
        out.words[static_cast<size_t>(i / 2)] =
            as_bf16(row[i]) | (i + 1 < inputs ? as_bf16(row[i + 1]) << 16 : 0);
}

PackedMatrix Packer::matrix(const std::string& name, WeightFormat format) {
    const at::Tensor& weight = *find(name + ".weight");
    const int64_t outputs = weight.size(0), inputs = weight.size(1), panel = decode_kernels().panel;
    const float* w = data(name + ".weight");
    const int64_t group = format == WeightFormat::fp32 ? 1 : format == WeightFormat::bf16 ? 2 : 4;
    const int64_t steps = (inputs + group - 1) / group;
    PackedMatrix out;
    out.format = format;
    out.inputs = inputs;
    out.panels = (outputs + panel - 1) / panel;
    const int64_t rows = out.panels * panel;
    out.bytes = rows * steps * 4;
    uint8_t* const to = arena_.allocate(out.bytes);
    out.weights = to;
    out.bias.assign(static_cast<size_t>(rows), 0);
    if (find(name + ".bias") != nullptr)
        std::copy_n(data(name + ".bias"), outputs, out.bias.begin());
    if (format == WeightFormat::int8) {
        out.scale.assign(static_cast<size_t>(rows), 0);
        out.sums.assign(static_cast<size_t>(rows), 0);
    }
    at::parallel_for(0, outputs, panel, [&](int64_t begin, int64_t end) {
        WordRow row{.words = std::vector<uint32_t>(static_cast<size_t>(steps))};
        for (int64_t o = begin; o < end; ++o) {
            put_words(w + o * inputs, inputs, format, row);
            uint32_t* at = reinterpret_cast<uint32_t*>(to) + o / panel * steps * panel + o % panel;
            for (const uint32_t word : row.words) {
                *at = word;
                at += panel;
            }
            if (format != WeightFormat::int8) continue;
            out.scale[static_cast<size_t>(o)] = row.scale;
            out.sums[static_cast<size_t>(o)] = row.sum;
        }
    });
    return out;
}

PackedBias Packer::bias(const std::string& name) const {
    PackedBias out;
    out.length = net_.config().tokens();
    if (find(name + "w") != nullptr) {
        out.w = data(name + "w");
        return out;
    }
    out.u = data(name + "u");
    out.factors = find(name + "u")->size(1);
    const float* r = data(name + "r");
    const int64_t chunks = (out.length + kDecodeBlock - 1) / kDecodeBlock;
    out.r = Buffer<float>(chunks * out.factors * kDecodeBlock, true);
    for (int64_t j = 0; j < out.length; ++j)
        for (int64_t f = 0; f < out.factors; ++f)
            out.r.data()[(j / kDecodeBlock * out.factors + f) * kDecodeBlock + j % kDecodeBlock] =
                r[j * out.factors + f];
    return out;
}

PackedLayer Packer::layer(int64_t index, bool has_bias) {
    const std::string name = fmt::format("blocks.{}.", index);
    PackedLayer out;
    out.norm1 = norm(name + "norm1");
    out.norm2 = norm(name + "norm2");
    out.k = matrix(name + "mixer.k", format_);  // in the order in which a token reads them
    out.v = matrix(name + "mixer.v", format_);
    out.q = maybe(name + "mixer.q");
    out.o = maybe(name + "mixer.o");
    out.fc1 = matrix(name + "mlp.fc1", format_);
    out.fc2 = matrix(name + "mlp.fc2", format_);
    if (has_bias) out.bias = bias(name + "mixer.");
    return out;
}

std::vector<float> Packer::table(const std::string& name, int64_t width) const {
    return rows(*find(name), width);
}

std::vector<float> Packer::rows(const at::Tensor& from, int64_t width) const {
    const int64_t d = net_.config().dim, count = from.numel() / d;
    const auto* values = from.const_data_ptr<float>();
    std::vector<float> out(static_cast<size_t>(count * width), 0.0F);
    for (int64_t r = 0; r < count; ++r) std::copy_n(values + r * d, d, out.begin() + r * width);
    return out;
}

int64_t bytes_of(const PackedLayer& layer) {
    int64_t sum = 0;
    for (const PackedMatrix* m : {&layer.k, &layer.v, &layer.fc1, &layer.fc2}) sum += m->bytes;
    return sum + (layer.q ? layer.q->bytes : 0) + (layer.o ? layer.o->bytes : 0);
}

}  // namespace

DecodeMatrix PackedMatrix::view() const {
    return {.weights = weights,
            .bias = bias.data(),
            .scale = scale.empty() ? nullptr : scale.data(),
            .sums = sums.empty() ? nullptr : sums.data(),
            .inputs = inputs};
}

const char* why_not_packed(const Net& net) {
    const ModelConfig& model = net.config();
    if (!model.causal()) return "the model is not causal";
    if (task_traits(model).is_mixer_alone) return "the model is a mixer alone";
    if (mixer_traits(model).decoder != DecoderKind::packed)
        return "the mixer has no decoding kernels";
    for (const Parameter& parameter : net.parameters()) {
        const at::Tensor& value = parameter.value;
        if (!value.is_cpu()) return "the model is not on the CPU";
        if (value.scalar_type() != at::kFloat || !value.is_contiguous())
            return "the parameters are not plain float32";
    }
    return nullptr;
}

PackedNet pack(const Net& net, WeightFormat format) {
    Packer packer(net, format);
    const int64_t panel = decode_kernels().panel;
    PackedNet out;
    out.config = net.config();
    const ModelConfig& c = out.config;
    out.width = rounded_up(c.dim, panel);
    out.inside = rounded_up(c.dim * c.mlp_ratio, panel);
    out.outputs = rounded_up(c.levels, panel);
    const MixerTraits traits = mixer_traits(c);
    out.has_bias = traits.has_bias();
    out.length = c.tokens();
    out.history = traits.window > 0 ? std::min(traits.window, out.length) : out.length;
    out.forget = traits.outside_hidden;
    out.bf16_chunks =
        format != WeightFormat::fp32 && decode_kernels().accumulate_chunk_bf16 != nullptr;
    out.tokens = packer.table("embed.token.weight", out.width);
    const std::vector<float> start =
        c.start_token ? packer.table("embed.start", out.width)
                      : std::vector<float>(out.tokens.begin(), out.tokens.begin() + out.width);
    out.tokens.insert(out.tokens.end(), start.begin(), start.end());
    if (c.positions == "sinusoidal")
        out.positions = packer.rows(sinusoidal_positions(out.length, c.dim), out.width);
    else if (c.has_positions())
        out.positions = packer.table("embed.position.weight", out.width);
    for (int64_t i = 0; i < c.layers; ++i) {
        out.layers.push_back(packer.layer(i, out.has_bias));
        out.weight_bytes += bytes_of(out.layers.back());
    }
    out.norm = packer.norm("norm");
    out.head = packer.matrix("head", WeightFormat::fp32);
    out.weight_bytes += out.head.bytes;
    out.arena = packer.arena();
    return out;
}

}  // namespace aft::decode
