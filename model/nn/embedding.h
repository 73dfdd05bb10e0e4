// The layers before the blocks: token table with start token, patches, class token, positions; and
// the ordered start of image models. Owned by Net.
#pragma once
#include <ATen/core/Tensor.h>

#include "model/config.h"
#include "model/nn/layers.h"
#include "model/nn/parameters.h"

namespace aft {

// Settings of a task whose tokens are patches of a picture.
struct PatchSettings {
    int64_t patch = 4;         // side in pixels
    bool class_token = false;  // else mean pool after the last norm
    // A second token with a head of its own: the logits are the mean of both heads (Touvron et al.
    // 2021, section 4).
    bool distillation_token = false;
    [[nodiscard]] int64_t prefix_tokens() const {
        return class_token ? (distillation_token ? 2 : 1) : 0;
    }
    void visit(SettingRows& rows);
};

struct Embedding {
    at::Tensor token;     // image, text: [levels, d]
    at::Tensor start;     // image, text: [d], the input of position 0; undefined: token 0 is
    at::Tensor position;  // [T, d], undefined without positions; a constant where sinusoidal
    Linear patch;         // classify: C * patch * patch values (channel, y, x) -> d
    at::Tensor cls;       // classify with class token: [d]
    at::Tensor dist;      // and with distillation token: [d]

    // fed int64 [B, T'], -1 = start token -> [B, T', d]. usage Error on values or lengths that do
    // not fit.
    [[nodiscard]] at::Tensor tokens(const at::Tensor& fed) const;
    // tokens int64 [B] at one position -> [B, d]
    [[nodiscard]] at::Tensor one(const at::Tensor& tokens, int64_t at_position) const;
    // The rows that tokens and the start stand for, [levels (+ 1), d], and that of the start.
    [[nodiscard]] at::Tensor with_start() const;
    [[nodiscard]] int64_t start_row() const;
    // image [B, C, H, W] -> [B, prefix tokens + H/patch * W/patch, d]
    [[nodiscard]] at::Tensor patches(const at::Tensor& image, const ModelConfig& config) const;
};

// sin and cos of the position at wavelengths from 2 pi to 10000 * 2 pi, in turn (Vaswani et al.
// 2017, section 3.5): [T, d], float32.
[[nodiscard]] at::Tensor sinusoidal_positions(int64_t tokens, int64_t d);

[[nodiscard]] Embedding make_embedding(ParameterMaker& maker, const ModelConfig& config);
// The last linear map: token or class logits.
[[nodiscard]] Linear make_head(ParameterMaker& maker, const ModelConfig& config);
// That of the distillation token; without weight where there is none.
[[nodiscard]] Linear make_distillation_head(ParameterMaker& maker, const ModelConfig& config);

// Rows of a table [R, d] by index int64 [N] -> [N, d]. The gradient of a row is summed in the order
// of N whatever the number of threads, so that a run repeats bit for bit.
[[nodiscard]] at::Tensor gather_rows(const at::Tensor& table, const at::Tensor& index);

}  // namespace aft
