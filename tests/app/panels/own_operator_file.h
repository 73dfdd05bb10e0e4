// A file as a user writes it from code of their own: q, k, v, w and y = AFT-full of them, causal,
// by its definition in plain loops (Zhai et al. 2021, Eq. 2).
#pragma once
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/files.h"
#include "core/rng.h"

namespace aft::app {

struct WrongValue {
    int64_t at = -1;  // of y, in its flat order; -1 = all are right
    float by = 0;
};

inline void write_own_result(const std::filesystem::path& file, const WrongValue& wrong) {
    constexpr int64_t B = 2, T = 6, d = 8;
    CounterRng rng(1, 0);
    const auto values = [&](int64_t count) {
        std::vector<float> out(static_cast<size_t>(count));
        for (float& x : out) x = static_cast<float>(rng.below(2001)) / 1000 - 1;
        return out;
    };
    const std::vector<float> q = values(B * T * d), k = values(B * T * d), v = values(B * T * d),
                             w = values(T * T);
    std::vector<float> y(q.size());
    for (int64_t b = 0; b < B; ++b)
        for (int64_t t = 0; t < T; ++t)
            for (int64_t c = 0; c < d; ++c) {
                const auto at = [&](int64_t j) { return static_cast<size_t>((b * T + j) * d + c); };
                double numerator = 0, denominator = 0;
                for (int64_t j = 0; j <= t; ++j) {
                    const double e = std::exp(double(k[at(j)]) + w[static_cast<size_t>(t * T + j)]);
                    numerator += e * v[at(j)];
                    denominator += e;
                }
                y[at(t)] = static_cast<float>(numerator / denominator / (1 + std::exp(-q[at(t)])));
            }
    if (wrong.at >= 0) y[static_cast<size_t>(wrong.at)] += wrong.by;
    nlohmann::json header;
    std::string bytes;
    const auto add = [&](const char* name, const std::vector<float>& x,
                         std::vector<int64_t> shape) {
        const size_t begin = bytes.size(), size = x.size() * sizeof(float);
        bytes.append(reinterpret_cast<const char*>(x.data()), size);
        header[name] = {
            {"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, begin + size}}};
    };
    add("q", q, {B, T, d});
    add("k", k, {B, T, d});
    add("v", v, {B, T, d});
    add("w", w, {T, T});
    add("y", y, {B, T, d});
    std::string text = header.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    const uint64_t length = text.size();
    std::string head(8, '\0');
    std::memcpy(head.data(), &length, 8);
    write_atomically(file, head + text + bytes);
}

}  // namespace aft::app
