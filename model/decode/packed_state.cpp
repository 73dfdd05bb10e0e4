#include "model/decode/packed_state.h"

#include <algorithm>
#include <cstring>

namespace aft::decode {

namespace {

constexpr float kNothingYet = -3e38F;  // reference of empty sums

Buffer<float> copy_of(const Buffer<float>& from) {
    Buffer<float> to(from.size());
    std::memcpy(to.data(), from.data(), static_cast<size_t>(from.size()) * sizeof(float));
    return to;
}

AttentionState copy_of(const AttentionState& from) {
    AttentionState to = from;
    if (from.open) to.open = std::make_shared<HistoryChunk>(*from.open);
    return to;
}

}  // namespace

HistoryChunk::HistoryChunk(int64_t width)
    : k(kDecodeBlock * width), v(kDecodeBlock * width), x(kDecodeBlock * width), reference(width) {}

HistoryChunk::HistoryChunk(const HistoryChunk& other)
    : k(copy_of(other.k)),
      v(copy_of(other.v)),
      x(copy_of(other.x)),
      reference(copy_of(other.reference)) {}

ops::cpu::DecodeChunk HistoryChunk::view(int64_t begin, int64_t end, int64_t count) {
    return {.k = k.data(),
            .v = v.data(),
            .x = x.data(),
            .reference = reference.data(),
            .stride = reference.size(),
            .begin = begin,
            .end = end,
            .count = count};
}

PackedState::PackedState(const StateShape& shape, int64_t rows)
    : shape_(shape), rows_(rows), states_(static_cast<size_t>(shape.layers * rows)) {
    const auto width = static_cast<size_t>(shape.width);
    for (AttentionState& state : states_) {
        state.sums.assign(3 * width, 0.0F);
        std::fill_n(state.sums.begin(), width, kNothingYet);
        if (shape.has_bias) state.targets.assign(kDecodeBlock * 3 * width, 0.0F);
    }
}

std::unique_ptr<DecoderState> PackedState::clone() const {
    auto copy = std::make_unique<PackedState>(shape_, 0);
    copy->position = position;
    copy->rows_ = rows_;
    for (const AttentionState& state : states_) copy->states_.push_back(copy_of(state));
    return copy;
}

void PackedState::select(const std::vector<int64_t>& rows) {
    std::vector<AttentionState> chosen;
    for (int64_t layer = 0; layer < shape_.layers; ++layer)
        for (const int64_t row : rows) chosen.push_back(copy_of(at(layer, row)));
    states_ = std::move(chosen);
    rows_ = static_cast<int64_t>(rows.size());
}

void PackedState::open_block() {
    // Already accumulated into the prefix state.
    const int64_t past = position - kDecodeBlock - shape_.history;
    for (AttentionState& state : states_) {
        auto end = state.chunks.begin();
        for (; end != state.chunks.end() && (state.first + 1) * kDecodeBlock - 1 <= past; ++end)
            ++state.first;
        state.chunks.erase(state.chunks.begin(), end);
        if (state.open) state.chunks.push_back(std::move(state.open));
        state.open = std::make_shared<HistoryChunk>(shape_.width);
    }
}

}  // namespace aft::decode
