// The packed decoder: a token of n rows through all layers without LibTorch. Per layer five steps:
//   project_qkv  q, k, v = W norm1(x)      mix     the mixer, which is per channel
//   project_out  x += Wo y      mlp_up  h = act(W1 norm2(x))      mlp_down  x += W2 h
// Few rows: the threads share every step by panels of outputs with a barrier after each but the
// first; norms are computed by every thread for itself, cheaper than a fifth barrier. Many rows:
// each thread takes its rows through all steps and reads all weights; only known tokens, which are
// mixed in order by channels, need a barrier before and after. Cost of a token: the bytes of the
// weights, once for all rows, or the products if there are many; plus the mixer's own
// (ops/cpu/decode/mix.inl).
//
// Measured, 24 layers of d = 256 (aft-simple) on two cores: 1.8 to 2.1 ms a token in float32, 0.59
// to 0.71 in bf16, 0.24 to 0.35 in int8; LibTorch's operations take 9.5, that is 4.4, 13 and 27
// times.
//
// No row's numbers depend on the rows beside it nor on the threads, so any number of rows decodes
// together, and known tokens go through in blocks (feed) with the same results.
#include <algorithm>
#include <chrono>

#include "core/check.h"
#include "core/system/thread_team.h"
#include "model/decode/packed_mixer.h"
#include "model/net/net.h"

namespace aft::decode {

namespace {

using ops::cpu::decode_kernels;
using ops::cpu::DecodeActivation;
using ops::cpu::DecodeKernels;

constexpr int64_t kWorthTwo = 1 << 20;  // bytes of weights from which a second thread helps

constexpr int64_t kManyRows = 8;      // for each thread: from then on it takes its own
constexpr int64_t kKnownTokens = 64;  // at once, where there are no blocks

// The work of one thread: some panels of all rows, or all panels of some rows.
struct Share {
    int64_t thread = 0, threads = 1;
    int64_t row = 0, rows = 0;
    bool by_rows = false;
    [[nodiscard]] int64_t begin(int64_t panels) const {
        return by_rows ? 0 : panels * thread / threads;
    }
    [[nodiscard]] int64_t end(int64_t panels) const {
        return by_rows ? panels : panels * (thread + 1) / threads;
    }
};
Share share_of(int64_t thread, int64_t threads, int64_t rows) {
    if (rows < kManyRows * threads) return {thread, threads, 0, rows};
    const int64_t row = rows * thread / threads;
    return {thread, threads, row, rows * (thread + 1) / threads - row, true};
}
Share by_panels(const Share& share, int64_t rows) {
    return {share.thread, share.threads, 0, rows};
}

// The tokens of one call: some, in order, of every row of a state.
struct TokenBlock {
    std::span<const int64_t> tokens;  // [rows of the state, each]
    PackedState* state = nullptr;
    int64_t each = 1;
    bool predicts = true;  // logits are wanted
    [[nodiscard]] int64_t count() const { return static_cast<int64_t>(tokens.size()); }
    [[nodiscard]] int64_t row(int64_t i) const { return i / each; }
    [[nodiscard]] int64_t position(int64_t i) const { return state->position + i % each; }
};

// Activations of the tokens of one call: [capacity, width], of h [capacity, inside].
struct TokenBuffers {
    int64_t capacity = 0;
    Buffer<float> x, q, k, v, y, h, logits;
};

struct ThreadScratch {  // of one thread
    Buffer<float> normed;
    Buffer<uint8_t> codes;
};

class PackedDecoder final : public Decoder {
  public:
    PackedDecoder(const Net& net, const DecoderOptions& options)
        : net_(pack(net, options.weights)),
          kernels_(decode_kernels()),
          format_(options.weights),
          team_(net_.weight_bytes < kWorthTwo ? 1 : std::max<int64_t>(1, options.threads)),
          thread_choice_(team_.size()),
          mixer_(net_),
          own_(static_cast<size_t>(team_.size())) {}

    [[nodiscard]] std::unique_ptr<DecoderState> start(int64_t rows) const override {
        return std::make_unique<PackedState>(StateShape{static_cast<int64_t>(net_.layers.size()),
                                                        net_.width, net_.has_bias, net_.history},
                                             rows);
    }
    std::span<const float> step(std::span<const int64_t> tokens, DecoderState& state) override {
        auto& own = dynamic_cast<PackedState&>(state);
        AFT_ASSERT(own.rows() == static_cast<int64_t>(tokens.size()));
        run({tokens, &own});
        return {logits_plain_.data(), logits_plain_.size()};
    }
    void feed(std::span<const int64_t> tokens, DecoderState& state,
              std::vector<float>* logits) override {
        auto& own = dynamic_cast<PackedState&>(state);
        const auto rows = static_cast<size_t>(own.rows()), n = tokens.size() / rows;
        std::vector<int64_t> part;
        for (size_t first = 0, each = 0; first < n; first += each) {
            const int64_t most =  // up to the end of a block at a time
                net_.has_bias ? kDecodeBlock - own.position % kDecodeBlock : kKnownTokens;
            each = std::min(n - first, static_cast<size_t>(most));
            part.clear();
            for (size_t r = 0; r < rows; ++r) {
                const std::span<const int64_t> of_row = tokens.subspan(r * n + first, each);
                part.insert(part.end(), of_row.begin(), of_row.end());
            }
            run({part, &own, static_cast<int64_t>(each), logits != nullptr});
            if (logits != nullptr)
                place_logits(logits_plain_, {.rows = rows, .first = first, .each = each, .of = n},
                             *logits);
        }
    }
    [[nodiscard]] int64_t group() const override { return 0; }
    [[nodiscard]] std::string name() const override {
        constexpr const char* kFormats[] = {"fp32", "bf16", "int8"};
        return fmt::format("packed {}, {}", kFormats[static_cast<int>(format_)], kernels_.name);
    }

  private:
    void run(const TokenBlock& rows);
    void reserve(int64_t rows);
    void embed(const TokenBlock& rows);
    void work(const TokenBlock& rows, Share share);
    void barrier(const Share& share);
    void project_qkv(const TokenBlock& rows, size_t layer, Share share);
    void mix(const TokenBlock& rows, size_t layer, Share share);
    void project_out(size_t layer, Share share);
    void mlp_up(size_t layer, Share share);
    void mlp_down(size_t layer, Share share);
    void predict(Share share);

    // y (+)= matrix x of my panels and rows
    struct Product {
        const PackedMatrix& matrix;
        const float* x;  // my first row, and so y
        int64_t stride;  // of x
        float* y;
        int64_t y_stride;
        bool add = false;
        bool again = false;  // x was multiplied just before
    };
    void product(const Product& p, Share share);
    // norm of my rows -> my buffer
    const float* normed(const PackedNorm& norm, Share share);
    [[nodiscard]] float* rows_of(Buffer<float>& x, const Share& share) const {
        return x.data() + share.row * net_.width;
    }

    PackedNet net_;
    const DecodeKernels& kernels_;
    WeightFormat format_;
    ThreadTeam team_;
    ThreadChoice thread_choice_;
    PackedMixer mixer_;
    TokenBuffers now_;
    std::vector<float> logits_plain_;  // [rows, levels]
    std::vector<ThreadScratch> own_;
};

void PackedDecoder::reserve(int64_t rows) {
    if (rows <= now_.capacity) return;
    now_.capacity = 0;  // until all of it is there: memory may not suffice
    for (Buffer<float>* b : {&now_.x, &now_.q, &now_.k, &now_.v, &now_.y})
        *b = Buffer<float>(rows * net_.width, true);
    now_.h = Buffer<float>(rows * net_.inside, true);
    now_.logits = Buffer<float>(rows * net_.outputs, true);
    for (ThreadScratch& own : own_) {
        own.normed = Buffer<float>(rows * net_.width, true);
        own.codes = Buffer<uint8_t>(rows * (2 * std::max(net_.inside, net_.width) + 64), true);
    }
    now_.capacity = rows;
}

void PackedDecoder::embed(const TokenBlock& rows) {
    const int64_t levels = net_.config.levels, width = net_.width;
    for (int64_t i = 0; i < rows.count(); ++i) {
        const int64_t token = rows.tokens[static_cast<size_t>(i)];
        AFT_ASSERT(token >= -1 && token < levels);
        const float* from = net_.tokens.data() + (token < 0 ? levels : token) * width;
        const int64_t at = rows.position(i);
        AFT_ASSERT(net_.positions.empty() || at < net_.length);
        const float* place = net_.positions.empty() ? nullptr : net_.positions.data() + at * width;
        float* x = now_.x.data() + i * width;
        for (int64_t c = 0; c < width; ++c) x[c] = from[c] + (place == nullptr ? 0 : place[c]);
    }
}

void PackedDecoder::run(const TokenBlock& rows) {
    const auto start = std::chrono::steady_clock::now();
    reserve(rows.count());
    embed(rows);
    const int64_t at = rows.state->position;
    if (net_.has_bias) {
        AFT_ASSERT(at < net_.length);
        if (at % kDecodeBlock == 0) rows.state->open_block();
    }
    mixer_.seek(at);
    const int64_t threads = thread_choice_.threads();
    team_.run(threads == 1 ? ThreadTeam::Members::caller : ThreadTeam::Members::all,
              [&](int64_t thread) { work(rows, share_of(thread, threads, rows.count())); });
    mixer_.mark_prepared();
    rows.state->position += rows.each;
    if (rows.predicts) {
        const int64_t levels = net_.config.levels;
        logits_plain_.resize(static_cast<size_t>(rows.count() * levels));
        for (int64_t i = 0; i < rows.count(); ++i)
            std::copy_n(now_.logits.data() + i * net_.outputs, levels,
                        logits_plain_.begin() + i * levels);
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    thread_choice_.record(time.count(), rows.count());
}

void PackedDecoder::work(const TokenBlock& rows, Share share) {
    if (mixer_.is_stale()) {
        mixer_.prepare(share.thread, share.threads);
        team_.barrier();
    }
    for (size_t layer = 0; layer < net_.layers.size(); ++layer) {
        project_qkv(rows, layer, share);
        mix(rows, layer, share);
        // During prefill the output of the last layer is unused; only its state is updated.
        if (!rows.predicts && layer + 1 == net_.layers.size()) return;
        barrier(share);
        project_out(layer, share);
        barrier(share);
        mlp_up(layer, share);
        barrier(share);
        mlp_down(layer, share);
        barrier(share);
    }
    if (rows.predicts) predict(share);
}

// Where other threads need what this one has computed.
void PackedDecoder::barrier(const Share& share) {
    if (!share.by_rows) team_.barrier();
}

void PackedDecoder::product(const Product& p, Share share) {
    kernels_.product[static_cast<int>(p.matrix.format)](
        {.matrix = p.matrix.view(),
         .x = p.x,
         .x_stride = p.stride,
         .rows = share.rows,
         .begin = share.begin(p.matrix.panels),
         .end = share.end(p.matrix.panels),
         .y = p.y,
         .y_stride = p.y_stride,
         .add = p.add,
         .codes = own_[static_cast<size_t>(share.thread)].codes.data(),
         .prefetches = share.by_rows,
         .coded = p.again});
}

const float* PackedDecoder::normed(const PackedNorm& norm, Share share) {
    float* to = own_[static_cast<size_t>(share.thread)].normed.data();
    kernels_.norm({.x = rows_of(now_.x, share),
                   .weight = norm.weight.data(),
                   .bias = norm.bias.data(),
                   .rows = share.rows,
                   .stride = net_.width,
                   .channels = net_.config.dim,
                   .eps = static_cast<float>(net_.config.norm_eps),
                   .y = to});
    return to;
}

void PackedDecoder::project_qkv(const TokenBlock& rows, size_t layer, Share share) {
    const PackedLayer& l = net_.layers[layer];
    const bool is_unread = !rows.predicts && layer + 1 == net_.layers.size();
    const float* x = normed(l.norm1, share);
    const int64_t width = net_.width;
    product({l.k, x, width, rows_of(now_.k, share), width}, share);
    product({.matrix = l.v,
             .x = x,
             .stride = width,
             .y = rows_of(now_.v, share),
             .y_stride = width,
             .again = true},
            share);
    if (l.q && !is_unread)
        product({.matrix = *l.q,
                 .x = x,
                 .stride = width,
                 .y = rows_of(now_.q, share),
                 .y_stride = width,
                 .again = true},
                share);
}

void PackedDecoder::mix(const TokenBlock& rows, size_t layer, Share share) {
    const bool in_order = share.by_rows && rows.each > 1;  // one after the other: by channels
    if (in_order) {
        team_.barrier();
        share = by_panels(share, rows.count());
    }
    const int64_t width = net_.width, panels = width / kernels_.panel;
    const bool is_unread = !rows.predicts && layer + 1 == net_.layers.size();
    for (int64_t i = share.row; i < share.row + share.rows; ++i)
        mixer_.step({.state = rows.state->at(static_cast<int64_t>(layer), rows.row(i)),
                     .layer = layer,
                     .position = rows.position(i),
                     .begin = share.begin(panels) * kernels_.panel,
                     .end = share.end(panels) * kernels_.panel,
                     .q = net_.layers[layer].q && !is_unread ? now_.q.data() + i * width : nullptr,
                     .k = now_.k.data() + i * width,
                     .v = now_.v.data() + i * width,
                     .y = is_unread ? nullptr : now_.y.data() + i * width});
    if (in_order) team_.barrier();
}

void PackedDecoder::project_out(size_t layer, Share share) {
    const PackedLayer& l = net_.layers[layer];
    const int64_t width = net_.width;
    const float* y = rows_of(now_.y, share);
    float* x = rows_of(now_.x, share);
    if (l.o) return product({*l.o, y, width, x, width, true}, share);
    const int64_t panels = width / kernels_.panel;
    for (int64_t i = 0; i < share.rows; ++i)
        for (int64_t c = share.begin(panels) * kernels_.panel;
             c < share.end(panels) * kernels_.panel; ++c)
            x[i * width + c] += y[i * width + c];
}

void PackedDecoder::mlp_up(size_t layer, Share share) {
    const PackedLayer& l = net_.layers[layer];
    const float* x = normed(l.norm2, share);
    float* h = now_.h.data() + share.row * net_.inside;
    product({l.fc1, x, net_.width, h, net_.inside}, share);
    const std::string& name = net_.config.activation;
    kernels_.activate({.x = h,
                       .rows = share.rows,
                       .stride = net_.inside,
                       .begin = share.begin(l.fc1.panels) * kernels_.panel,
                       .end = share.end(l.fc1.panels) * kernels_.panel,
                       .kind = name == "relu"        ? DecodeActivation::relu
                               : name == "gelu-tanh" ? DecodeActivation::gelu_tanh
                                                     : DecodeActivation::gelu,
                       .is_short = l.fc1.format != WeightFormat::fp32});
}

void PackedDecoder::mlp_down(size_t layer, Share share) {
    const float* h = now_.h.data() + share.row * net_.inside;
    product({net_.layers[layer].fc2, h, net_.inside, rows_of(now_.x, share), net_.width, true},
            share);
}

void PackedDecoder::predict(Share share) {
    const float* x = normed(net_.norm, share);
    float* logits = now_.logits.data() + share.row * net_.outputs;
    product({net_.head, x, net_.width, logits, net_.outputs}, share);
}

}  // namespace

std::unique_ptr<Decoder> make_packed_decoder(const Net& net, const DecoderOptions& options) {
    return std::make_unique<PackedDecoder>(net, options);
}

}  // namespace aft::decode
