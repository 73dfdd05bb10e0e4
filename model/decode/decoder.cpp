// Which decoder a net gets; and the one of LibTorch's own operations, for any mixer and device.
#include "model/decode/decoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "model/decode/decode.h"

namespace aft::decode {

namespace {

at::Tensor as_tensor(std::span<const int64_t> values, at::Device device) {
    return at::tensor(std::vector<int64_t>(values.begin(), values.end()), at::kLong).to(device);
}

struct EagerState final : DecoderState {
    NetState net;
    at::Device device = at::kCPU;
    int64_t count = 0;

    [[nodiscard]] std::unique_ptr<DecoderState> clone() const override {
        auto copy = std::make_unique<EagerState>();
        copy->net = net.clone();
        copy->device = device;
        copy->count = count;
        copy->position = position;
        return copy;
    }
    void select(const std::vector<int64_t>& rows) override {
        net.select(as_tensor(rows, device));
        count = static_cast<int64_t>(rows.size());
    }
    [[nodiscard]] int64_t rows() const override { return count; }
};

class EagerDecoder final : public Decoder {
  public:
    explicit EagerDecoder(const Net& net)
        : net_(net), device_(net.parameters().front().value.device()) {}

    [[nodiscard]] std::unique_ptr<DecoderState> start(int64_t rows) const override {
        auto state = std::make_unique<EagerState>();
        state->net = net_.start(rows);
        state->device = device_;
        state->count = rows;
        return state;
    }
    std::span<const float> step(std::span<const int64_t> tokens, DecoderState& state) override {
        auto& own = dynamic_cast<EagerState&>(state);
        logits_ = net_.step(as_tensor(tokens, device_), own.net).to(at::kCPU, at::kFloat);
        logits_ = logits_.contiguous();
        ++state.position;
        return {logits_.const_data_ptr<float>(), static_cast<size_t>(logits_.numel())};
    }
    [[nodiscard]] int64_t group() const override { return kGroup; }
    [[nodiscard]] std::string name() const override { return "LibTorch"; }

  private:
    const Net& net_;
    at::Device device_;
    at::Tensor logits_;
};

}  // namespace

void place_logits(std::span<const float> found, const LogitsPlace& place,
                  std::vector<float>& logits) {
    const size_t levels = found.size() / (place.rows * place.each);
    logits.resize(place.rows * place.of * levels);
    for (size_t r = 0; r < place.rows; ++r)
        std::copy_n(found.begin() + static_cast<int64_t>(r * place.each * levels),
                    place.each * levels,
                    logits.begin() + static_cast<int64_t>((r * place.of + place.first) * levels));
}

std::unique_ptr<Decoder> make_eager_decoder(const Net& net) {
    return std::make_unique<EagerDecoder>(net);
}

WeightFormat parse_weight_format(const std::string& name) {
    if (name == "fp32") return WeightFormat::fp32;
    if (name == "bf16") return WeightFormat::bf16;
    if (name == "int8") return WeightFormat::int8;
    fail_usage("weights: found '{}', allowed: fp32, bf16, int8", name);
}

double sequence_likelihood(Decoder& decoder, const std::vector<uint8_t>& tokens) {
    if (tokens.empty()) return 0;
    std::vector<int64_t> fed(tokens.size(), -1);
    std::copy(tokens.begin(), tokens.end() - 1, fed.begin() + 1);
    std::vector<float> logits;
    decoder.feed(fed, *decoder.start(1), &logits);
    const size_t levels = logits.size() / tokens.size();
    double nats = 0;
    for (size_t t = 0; t < tokens.size(); ++t) {
        const float* const row = logits.data() + t * levels;
        const double top = *std::max_element(row, row + levels);
        double sum = 0;
        for (size_t i = 0; i < levels; ++i) sum += std::exp(row[i] - top);
        nats += row[tokens[t]] - top - std::log(sum);
    }
    return nats;
}

void Decoder::feed(std::span<const int64_t> tokens, DecoderState& state,
                   std::vector<float>* logits) {
    const auto rows = static_cast<size_t>(state.rows()), n = tokens.size() / rows;
    std::vector<int64_t> now(rows);
    for (size_t i = 0; i < n; ++i) {
        for (size_t r = 0; r < rows; ++r) now[r] = tokens[r * n + i];
        const std::span<const float> one = step(now, state);
        if (logits != nullptr)
            place_logits(one, {.rows = rows, .first = i, .each = 1, .of = n}, *logits);
    }
}

Decoder& KeptDecoder::of(const Net& net, const DecoderOptions& options, uint64_t version) {
    if (decoder_ && version == version_ && options == options_) return *decoder_;
    decoder_.reset();  // first: two of them would be too much memory
    decoder_ = make_decoder(net, options);
    options_ = options;
    version_ = version;
    return *decoder_;
}

std::unique_ptr<Decoder> make_decoder(const Net& net, const DecoderOptions& options) {
    const char* const why =
        options.eager ? "LibTorch's operations were asked for" : why_not_packed(net);
    if (why == nullptr) return make_packed_decoder(net, options);
    if (options.weights != WeightFormat::fp32) fail_usage("weights: only fp32 here: {}", why);
    return make_eager_decoder(net);
}

}  // namespace aft::decode
