// A text that outgrows its model restarts with half a window: in blocks, whatever the rows and
// the window, and with every bit of what one block gives.
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/decode/batch.h"
#include "tests/model/net/tiny_nets.h"

namespace aft {
namespace {

using decode::Decoder;
using decode::DecoderState;
using decode::Given;
using decode::SampleRow;

// Passes everything on, and keeps what was asked for.
class Counted final : public Decoder {
  public:
    explicit Counted(Decoder& inner) : inner_(inner) {}
    [[nodiscard]] std::unique_ptr<DecoderState> start(int64_t rows) const override {
        return inner_.start(rows);
    }
    std::span<const float> step(std::span<const int64_t> tokens, DecoderState& state) override {
        const auto logits = inner_.step(tokens, state);
        logits_.assign(logits.begin(), logits.end());
        return logits_;
    }
    void feed(std::span<const int64_t> tokens, DecoderState& state,
              std::vector<float>* logits) override {
        most_ = std::max(most_, tokens.size());
        fed_ += tokens.size();
        inner_.feed(tokens, state, logits);
    }
    [[nodiscard]] int64_t group() const override { return inner_.group(); }
    [[nodiscard]] std::string name() const override { return inner_.name(); }
    void forget() { most_ = fed_ = 0; }
    [[nodiscard]] size_t most() const { return most_; }  // tokens of one feed, of all rows
    [[nodiscard]] size_t fed() const { return fed_; }
    [[nodiscard]] const std::vector<float>& logits() const { return logits_; }  // of the last step

  private:
    Decoder& inner_;
    size_t most_ = 0, fed_ = 0;
    std::vector<float> logits_;
};

constexpr int64_t kRestartLength = 600;  // half of it is more than one block even of a single row

// Rows of a text of one token more than the window.
std::vector<SampleRow> rows_of(int64_t count, int64_t levels) {
    std::vector<SampleRow> rows(static_cast<size_t>(count));
    for (size_t r = 0; r < rows.size(); ++r) {
        CounterRng rng(7, r);
        rows[r].stream = r;
        for (int64_t t = 0; t <= kRestartLength; ++t)
            rows[r].tokens.push_back(static_cast<uint8_t>(rng.below(levels)));
        rows[r].surprise.assign(rows[r].tokens.size(), std::nanf(""));
        rows[r].entropy = rows[r].surprise;
    }
    return rows;
}

// The logits of the token after a full window, its half fed in one block.
std::vector<float> wanted_logits(Decoder& decoder, const std::vector<SampleRow>& rows) {
    const auto state = decoder.start(static_cast<int64_t>(rows.size()));
    std::vector<int64_t> fed, last;
    for (const SampleRow& row : rows) {
        fed.push_back(-1);
        for (int64_t t = kRestartLength / 2; t + 1 < kRestartLength; ++t)
            fed.push_back(row.tokens[static_cast<size_t>(t)]);
        last.push_back(row.tokens[static_cast<size_t>(kRestartLength - 1)]);
    }
    decoder.feed(fed, *state, nullptr);
    const auto logits = decoder.step(last, *state);
    return {logits.begin(), logits.end()};
}

TEST(DecodeRestart, GoesInBlocksAndChangesNoBit) {
    const at::NoGradGuard no_gradients;
    for (const char* mixer : {"aft-simple", "aft-full", "aft-local"})
        for (const int64_t count : {1, 10, 64}) {
            SCOPED_TRACE(fmt::format("{}, {} rows", mixer, count));
            ModelConfig model = tiny_model(mixer, "text");
            model.own["length"] = kRestartLength;
            const Net net = tiny_net(model);
            const auto inner = decode::make_decoder(net, {});
            ASSERT_EQ(inner->group(), 0) << "a packed decoder";
            const std::vector<SampleRow> rows = rows_of(count, model.levels);
            Counted decoder(*inner);
            decode::SampleBatch batch(decoder, *decoder.start(1), rows, {0, kRestartLength});
            std::vector<std::vector<Given>> known;
            for (int64_t t = 0; t < kRestartLength; ++t) {
                known.emplace_back();
                for (const SampleRow& row : rows)
                    known.back().push_back({row.tokens[static_cast<size_t>(t)], false, false});
            }
            batch.follow(0, known);
            decoder.forget();
            batch.advance(kRestartLength, std::vector<Given>(rows.size(), {-1, true, false}), {});
            EXPECT_EQ(decoder.fed(), static_cast<size_t>(count * kRestartLength / 2));
            EXPECT_LE(decoder.most(), static_cast<size_t>(decode::kMostFed));
            EXPECT_EQ(decoder.logits(), wanted_logits(*inner, rows));
        }
}

}  // namespace
}  // namespace aft
