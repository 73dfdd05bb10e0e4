#include "model/decode/batch.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/rng.h"

namespace aft::decode {

namespace {

// Log-probabilities [levels] of logits.
void log_probabilities(std::span<const float> logits, double* out) {
    const double top = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp(logit - top);
    const double shift = top + std::log(sum);
    for (size_t i = 0; i < logits.size(); ++i) out[i] = logits[i] - shift;
}

// The prediction at a position of one row.
struct Guess {
    const double* logp;  // [levels]
    int64_t levels, at;
};

int64_t sample(const SampleRow& row, const Guess& guess, const SampleOptions& options) {
    const std::vector<float> logits(guess.logp, guess.logp + guess.levels);
    return choose_token(logits.data(), guess.levels, options,
                        uniform(options.seed, row.stream, static_cast<uint64_t>(guess.at)));
}

void take(SampleRow& row, int64_t value, const Given& given, const Guess& guess) {
    const auto at = static_cast<size_t>(guess.at);
    row.tokens[at] = static_cast<uint8_t>(value);
    const double nats = guess.logp[value];
    if (given.weighs) row.log_weight += nats;
    if (!given.filled) return;
    double entropy = 0;
    for (int64_t i = 0; i < guess.levels; ++i)
        if (guess.logp[i] > -700) entropy -= std::exp(guess.logp[i]) * guess.logp[i];
    row.log_likelihood += nats;
    row.surprise[at] = static_cast<float>(-nats / std::log(2.0));
    row.entropy[at] = static_cast<float>(entropy / std::log(2.0));
}

void check_finite(const SampleRow& row, const std::vector<double>& logp, int64_t at) {
    AFT_CHECK(row.padding || std::isfinite(*std::max_element(logp.begin(), logp.end())),
              "the model's prediction at position {} is not a number", at);
}

std::vector<double> weights(const std::vector<SampleRow>& rows) {
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const SampleRow& row : rows) top = std::max(top, row.log_weight);
    std::vector<double> out;
    for (const SampleRow& row : rows) out.push_back(std::exp(row.log_weight - top));
    for (double w : out) sum += w;
    for (double& w : out) w /= sum;
    return out;
}

}  // namespace

std::unique_ptr<DecoderState> prefix_state(Decoder& decoder, const std::vector<uint8_t>& tokens,
                                           Stretch stretch, const JobControl& control) {
    std::unique_ptr<DecoderState> state = decoder.start(1);
    std::vector<int64_t> fed;
    for (int64_t at = stretch.begin; at < stretch.end; ++at)
        fed.push_back(at == stretch.begin ? -1 : tokens[static_cast<size_t>(at - 1)]);
    constexpr size_t kSlice = 32;  // a stop is looked for between slices
    for (size_t at = 0; at < fed.size(); at += kSlice) {
        if (control.stop.stop_requested()) throw Interrupted();
        const std::span<const int64_t> rest = std::span<const int64_t>(fed).subspan(at);
        decoder.feed(rest.first(std::min(kSlice, rest.size())), *state, nullptr);
    }
    return state;
}

SampleBatch::SampleBatch(Decoder& decoder, const DecoderState& prefix, std::vector<SampleRow> rows,
                         ContextWindow window)
    : decoder_(&decoder), state_(prefix.clone()), rows_(std::move(rows)), window_(window) {
    state_->select(std::vector<int64_t>(rows_.size(), 0));
}

std::vector<int64_t> SampleBatch::fed(Stretch stretch) const {
    std::vector<int64_t> values;
    for (const SampleRow& row : rows_)
        for (int64_t at = stretch.begin; at < stretch.end; ++at)
            values.push_back(at == window_.begin ? -1 : row.tokens[static_cast<size_t>(at - 1)]);
    return values;
}

// Text longer than the model: continues with the last half of its window.
void SampleBatch::restart(int64_t at) {
    window_.begin = at - window_.length / 2;
    state_ = decoder_->start(static_cast<int64_t>(rows_.size()));
    const int64_t most = std::max<int64_t>(1, kMostFed / static_cast<int64_t>(rows_.size()));
    for (int64_t begin = window_.begin; begin < at; begin += most)
        decoder_->feed(fed({begin, std::min(at, begin + most)}), *state_, nullptr);
}

void SampleBatch::advance(int64_t at, const std::vector<Given>& given,
                          const SampleOptions& options) {
    if (at - window_.begin >= window_.length) restart(at);
    const std::span<const float> logits = decoder_->step(fed({at, at + 1}), *state_);
    const size_t levels = logits.size() / rows_.size();
    std::vector<double> logp(levels);
    for (size_t i = 0; i < rows_.size(); ++i) {
        log_probabilities(logits.subspan(i * levels, levels), logp.data());
        const Guess guess{logp.data(), static_cast<int64_t>(levels), at};
        check_finite(rows_[i], logp, at);
        const int64_t value =
            given[i].value >= 0 ? given[i].value : sample(rows_[i], guess, options);
        take(rows_[i], value, given[i], guess);
    }
}

void SampleBatch::follow(int64_t at, const std::vector<std::vector<Given>>& given) {
    std::span<const std::vector<Given>> rest = given;
    while (!rest.empty()) {
        if (at - window_.begin >= window_.length) restart(at);
        const auto left = static_cast<size_t>(window_.begin + window_.length - at);
        const size_t count = std::min(rest.size(), left);
        follow_window(at, rest.first(count));
        at += static_cast<int64_t>(count);
        rest = rest.subspan(count);
    }
}

void SampleBatch::follow_window(int64_t at, std::span<const std::vector<Given>> given) {
    bool counts = false;
    for (size_t i = 0; i < given.size(); ++i)
        for (size_t r = 0; r < rows_.size(); ++r) {
            rows_[r].tokens[static_cast<size_t>(at) + i] = static_cast<uint8_t>(given[i][r].value);
            counts = counts || given[i][r].filled;
        }
    std::vector<float> logits;
    decoder_->feed(fed({at, at + static_cast<int64_t>(given.size())}), *state_,
                   counts ? &logits : nullptr);
    const size_t levels = logits.size() / (rows_.size() * given.size());
    std::vector<double> logp(levels);
    for (size_t r = 0; counts && r < rows_.size(); ++r)
        for (size_t i = 0; i < given.size(); ++i) {
            if (!given[i][r].filled) continue;
            const auto first = (r * given.size() + i) * levels;
            log_probabilities(std::span<const float>(logits).subspan(first, levels), logp.data());
            const int64_t place = at + static_cast<int64_t>(i);
            check_finite(rows_[r], logp, place);
            take(rows_[r], given[i][r].value, given[i][r],
                 {logp.data(), static_cast<int64_t>(levels), place});
        }
}

void SampleBatch::resample(double uniform) {
    const std::vector<double> w = weights(rows_);
    const double squares = std::inner_product(w.begin(), w.end(), w.begin(), 0.0);
    const auto m = static_cast<double>(w.size());
    if (1 / squares >= m / 2) return;
    std::vector<int64_t> chosen;  // systematic: one random number, evenly spaced
    double sum = 0;
    for (size_t i = 0; i < w.size(); ++i) {
        sum += w[i];
        while (chosen.size() < w.size() && (static_cast<double>(chosen.size()) + uniform) / m < sum)
            chosen.push_back(static_cast<int64_t>(i));
    }
    while (chosen.size() < w.size()) chosen.push_back(static_cast<int64_t>(w.size()) - 1);
    std::vector<SampleRow> next;
    for (size_t i = 0; i < chosen.size(); ++i) {
        next.push_back(rows_[static_cast<size_t>(chosen[i])]);
        next.back().stream = rows_[i].stream;  // copies go different ways
        next.back().log_weight = 0;
    }
    rows_ = std::move(next);
    state_->select(chosen);
}

const SampleRow& SampleBatch::heaviest() const {
    return *std::max_element(
        rows_.begin(), rows_.end(),
        [](const SampleRow& a, const SampleRow& b) { return a.log_weight < b.log_weight; });
}

const SampleRow& SampleBatch::drawn(double uniform) const {
    const std::vector<double> w = weights(rows_);
    double sum = 0;
    for (size_t i = 0; i < w.size(); ++i) {
        sum += w[i];
        if (uniform < sum) return rows_[i];
    }
    return rows_.back();
}

}  // namespace aft::decode
