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

Heard copy_of(const Heard& from) {
    Heard to = from;
    if (from.open) to.open = std::make_shared<Chunk>(*from.open);
    return to;
}

}  // namespace

Chunk::Chunk(int64_t width)
    : k(kDecodeBlock * width), v(kDecodeBlock * width), x(kDecodeBlock * width), reference(width) {}

Chunk::Chunk(const Chunk& other)
    : k(copy_of(other.k)),
      v(copy_of(other.v)),
      x(copy_of(other.x)),
      reference(copy_of(other.reference)) {}

ops::cpu::DecodeChunk Chunk::part(int64_t begin, int64_t end, int64_t count) {
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
    : shape_(shape), rows_(rows), heard_(static_cast<size_t>(shape.layers * rows)) {
    const auto width = static_cast<size_t>(shape.width);
    for (Heard& heard : heard_) {
        heard.sums.assign(3 * width, 0.0F);
        std::fill_n(heard.sums.begin(), width, kNothingYet);
        if (shape.has_bias) heard.targets.assign(kDecodeBlock * 3 * width, 0.0F);
    }
}

std::unique_ptr<DecoderState> PackedState::clone() const {
    auto copy = std::make_unique<PackedState>(shape_, 0);
    copy->position = position;
    copy->rows_ = rows_;
    for (const Heard& heard : heard_) copy->heard_.push_back(copy_of(heard));
    return copy;
}

void PackedState::select(const std::vector<int64_t>& rows) {
    std::vector<Heard> chosen;
    for (int64_t layer = 0; layer < shape_.layers; ++layer)
        for (const int64_t row : rows) chosen.push_back(copy_of(at(layer, row)));
    heard_ = std::move(chosen);
    rows_ = static_cast<int64_t>(rows.size());
}

void PackedState::open_block() {
    const int64_t past = position - kDecodeBlock - shape_.history;  // folded a block ago
    for (Heard& heard : heard_) {
        auto end = heard.chunks.begin();
        for (; end != heard.chunks.end() && (heard.first + 1) * kDecodeBlock - 1 <= past; ++end)
            ++heard.first;
        heard.chunks.erase(heard.chunks.begin(), end);
        if (heard.open) heard.chunks.push_back(std::move(heard.open));
        heard.open = std::make_shared<Chunk>(shape_.width);
    }
}

}  // namespace aft::decode
