// The prologues and epilogues of aft-conv, position by position: packing, results and gradients
// (arguments.h says what each kernel takes; paper Eq. 6). Included once per instruction set.
//
//   X = 2^(K log2 e - b + 60),  Y = sigmoid(Q) N / D;  back: A = P / D, C = A (mean - R),
//   dV = X SA,  dK = sum over a head's channels of X (V - mean) SA + X SC
//
// Cost: one exponential a position and head for X, one exponential and one division a position and
// channel for Y. Numerics: b is an integer, one per head for all positions. On 14x14 and 24x24
// grids (bench conv2d, forward and gradient together) packing had 12 of 100 samples of a profile,
// factors, results and gradients 8, 8 and 6, the products of taps half; two cores of a Xeon with
// AVX-512.
#pragma once
#include "model/ops/cpu/conv/outside.inl"
#include "model/ops/cpu/conv/taps.inl"
#include "model/ops/cpu/simd/safety.inl"

namespace aft::ops::cpu::AFT_CPU {

// Where a vector of channels or of heads starts in a panel.
AFT_INLINE int64_t vector_at(const ConvLayout& l, int64_t u) {
    return u / 2 * l.block + u % 2 * kLanes;
}
AFT_INLINE int64_t value_at(const ConvLayout& l, int64_t v) {
    return vector_at(l, l.paired ? 2 * v : v);
}
AFT_INLINE int64_t key_at(const ConvLayout& l, int64_t v) {
    return vector_at(l, l.paired ? 2 * v + 1 : l.values + v);
}

// Broadcasts a row of per-head values to the channels of vector v.
AFT_INLINE V of_heads(const ConvLayout& l, const float* heads, int64_t v) {
    if (l.paired) return load(heads + v * kLanes);
    const float* first = heads + l.first_head[v];
    const int32_t* which = l.head_of + v * kLanes;
#if defined(AFT_CPU_AVX512)
    return _mm512_permutexvar_ps(_mm512_loadu_si512(which), load(first));
#elif defined(AFT_CPU_AVX2)
    return _mm256_permutevar8x32_ps(load(first),
                                    _mm256_loadu_si256(reinterpret_cast<const __m256i*>(which)));
#else
    return _mm_set_ps(first[which[3]], first[which[2]], first[which[1]], first[which[0]]);
#endif
}

// heads[i] = sum over the head's channels
AFT_INLINE void add_up(const ConvLayout& l, const float* channels, float* heads) {
    for (int64_t i = 0; i < l.heads; ++i) {
        const float* from = channels + i * l.width;
        float total = 0;
        for (int64_t c = 0; c < l.width; ++c) total += from[c];
        heads[i] = total;
    }
}

// The largest exponent of each head, rounded up to an integer, less kKeyShift.
template <class T>
AFT_INLINE void key_references(const ConvPack<T>& p, const ConvLayout& l, float* top) {
    for (int64_t v = 0; v < l.keys; ++v) store(top + v * kLanes, set1(-__builtin_inff()));
    for (int64_t t = 0; t < l.rows; ++t)
        for (int64_t v = 0; v < l.keys; ++v) {
            float* at = top + v * kLanes;
            const T* k = p.k + t * l.key_stride + v * kLanes;
            store(at, max(load(at), load_prefetching(k, l.key_stride, l.heads - v * kLanes, 0)));
        }
    for (int64_t v = 0; v < l.keys; ++v) {
        float* at = top + v * kLanes;
        store(at, ceil(to_log2(load(at), set1(0))) - set1(kKeyShift));
    }
}

// X = 2^(K log2 e - reference + kKeyShift), reference = the largest of the head, rounded up to an
// integer
template <class T>
AFT_INLINE V key(const ConvPack<T>& p, const ConvLayout& l, int64_t t, int64_t v) {
    const V k = load_partial(p.k + t * l.key_stride + v * kLanes, l.heads - v * kLanes, 0);
    return exp_scaled(k, load(p.heads + l.rows * l.head_row + v * kLanes));
}
template <class T>
AFT_INLINE V value(const ConvPack<T>& p, const ConvLayout& l, int64_t t, int64_t v) {
    const int64_t at = v * kLanes, width = l.channels - at;
    const V x = load_prefetching(p.v + t * l.stride + at, l.stride, width, 0);
    return p.mean == nullptr ? x : x - load_partial(p.mean + at, width, 0);
}

// The arguments by value: a compiler that sees vectors stored to memory would read them
// again.
template <class T>
static void conv_pack(const ConvPack<T>& given) {
    const ConvPack<T> p = given;
    const ConvLayout l = *p.layout;
    key_references(p, l, p.heads + l.rows * l.head_row);
    for (int64_t t = 0; t < l.rows; ++t) {
        float* const out = p.panel + t * kPair;
        if (l.paired) {
            for (int64_t v = 0; v < l.values; ++v) {
                const V x = key(p, l, t, v);
                store(out + v * l.block, x * value(p, l, t, v));
                store(out + v * l.block + kLanes, x);
            }
            continue;
        }
        float* const heads = p.heads + t * l.head_row;
        for (int64_t v = 0; v < l.keys; ++v) {
            const V x = key(p, l, t, v);
            store(heads + v * kLanes, x);
            store(out + key_at(l, v), x);
        }
        for (int64_t v = 0; v < l.values; ++v)
            store(out + value_at(l, v), of_heads(l, heads, v) * value(p, l, t, v));
    }
}

// Denominators of the heads whose channels [first, first + width) have an entry that is not safe.
AFT_INLINE bool mark_needs_exact(const ConvLayout& l, float* denominators, V safe, int64_t first) {
    float lanes[kLanes];
    store(lanes, safe);
    bool clean = true;
    for (int64_t i = 0; i < kLanes && first + i < l.channels; ++i) {
        if (lanes[i] != 0) continue;
        clean = false;
        if (denominators != nullptr) denominators[(first + i) / l.width] = kNeedsExact;
    }
    return clean;
}

// R = N / D, Y = sigmoid(Q) R: one division if R is not kept. The gate is scaled down, so that D
// times it stays in range down to sigmoid(Q) = 2^-77.
template <class T>
static bool conv_finish(const ConvFinish<T>& given) {
    const ConvFinish<T> f = given;
    const ConvLayout l = *f.layout;
    const V small = set1(0x1p-50F);
    bool clean = true;
    for (int64_t t = 0; t < l.rows; ++t) {
        const float* const sums = f.sums + t * kPair;
        float* const denominators =
            f.denominator == nullptr ? nullptr : f.denominator + t * l.key_stride;
        for (int64_t v = 0; v < l.keys; ++v) {
            const V D = load(sums + key_at(l, v));
            if (!l.paired) store(f.heads + v * kLanes, D);
            if (denominators != nullptr)
                store_partial(denominators + v * kLanes, D, l.heads - v * kLanes);
        }
        for (int64_t v = 0; v < l.values; ++v) {
            const int64_t at = v * kLanes, width = l.channels - at, where = t * l.stride + at;
            const V N = load(sums + value_at(l, v));
            const V D = l.paired ? load(sums + key_at(l, v)) : of_heads(l, f.heads, v);
            V gate = small;
            if (f.q != nullptr)
                gate =
                    fma(exp2(load_prefetching(f.q + where, l.stride, width, 0) * set1(-kLog2eHigh)),
                        small, small);
            const V safe = safety_mask(D, N);
            const V y = select_ge(safe, set1(1), N * small / (D * gate), set1(kExactNaN));
            store_prefetching(f.y + where, l.stride, y, width);
            if (f.average != nullptr) store_prefetching(f.average + where, l.stride, N / D, width);
            if (any_ge(set1(0), safe)) clean = mark_needs_exact(l, denominators, safe, at) && clean;
        }
    }
    return clean;
}

// P = dY sigmoid(Q), A = P / D, C = sum over the head's channels of A (mean - R). Heads of the
// exact path send nothing here (their R may be anything).
template <class T>
AFT_INLINE void position_factors(const ConvFactors<T>& f, const ConvLayout& l, int64_t t) {
    for (int64_t v = 0; v < l.keys; ++v)
        store(f.heads + v * kLanes,
              load_partial(f.denominator + t * l.key_stride + v * kLanes, l.heads - v * kLanes, 1));
    for (int64_t v = 0; v < l.values; ++v) {
        const int64_t at = v * kLanes, width = l.channels - at, where = t * l.stride + at;
        const V D = of_heads(l, f.heads, v),
                R = load_prefetching(f.average + where, l.stride, width, 0);
        const V given = load_prefetching(f.dy + where, l.stride, width, 0);
        V P = given * set1(f.scale);
        if (f.q != nullptr) {
            const V gate = sigmoid(load_prefetching(f.q + where, l.stride, width, 0));
            P = P * gate;
            store_prefetching(f.dq + where, l.stride, given * R * gate * (set1(1) - gate), width);
        }
        const V A = select_ge(D, set1(0), P / D, set1(0));
        const V C = select_ge(D, set1(0), A * (load_partial(f.mean + at, width, 0) - R), set1(0));
        store(f.panel + value_at(l, v) + t * kPair, A);
        store((l.paired ? f.heads : f.lanes) + at, C);
    }
    if (!l.paired) add_up(l, f.lanes, f.heads);
    for (int64_t v = 0; v < l.keys; ++v)
        store(f.panel + key_at(l, v) + t * kPair, load(f.heads + v * kLanes));
}

template <class T>
static void conv_factors(const ConvFactors<T>& given) {
    const ConvFactors<T> f = given;
    const ConvLayout l = *f.layout;
    for (int64_t t = 0; t < l.rows; ++t) position_factors(f, l, t);
}

// dV = X SA, dK = sum over the head's channels of X (V - mean) SA, plus X SC
struct KeyNorms {
    V left, part;
};
template <class T>
AFT_INLINE void position_gradients(const ConvKeys<T>& f, const ConvLayout& l, int64_t t,
                                   KeyNorms& norms) {
    for (int64_t v = 0; v < l.keys; ++v)
        store(f.heads + v * kLanes, load(f.panel + key_at(l, v) + t * kPair));
    const V scale = set1(f.scale);
    for (int64_t v = 0; v < l.values; ++v) {
        const int64_t at = value_at(l, v) + t * kPair;
        const V SA = load(f.sums + at), X = of_heads(l, f.heads, v);
        // The scale comes last: before it nothing is near the ends of float32.
        store_prefetching(f.dv + t * l.stride + v * kLanes, l.stride, X * SA * scale,
                          l.channels - v * kLanes);
        store(f.lanes + v * kLanes, load(f.panel + at) * SA);
    }
    if (!l.paired) add_up(l, f.lanes, f.lanes);  // heads are fewer than channels: in place
    for (int64_t v = 0; v < l.keys; ++v) {
        const V first = load(f.lanes + v * kLanes), X = load(f.heads + v * kLanes);
        const V dk = fma(X, load(f.sums + key_at(l, v) + t * kPair), first);
        const int64_t width = l.heads - v * kLanes;
        store_prefetching(f.dk + t * l.key_stride + v * kLanes, l.key_stride, dk * scale, width);
        float one[kLanes];
        for (int i = 0; i < kLanes; ++i) one[i] = i < width ? 1 : 0;
        const V real = load(one);
        norms.left = fma(dk * real, dk * real, norms.left);
        norms.part = fma(first * real, first * real, norms.part);
    }
}

template <class T>
static Norms conv_gradients(const ConvKeys<T>& given) {
    const ConvKeys<T> f = given;
    const ConvLayout l = *f.layout;
    KeyNorms norms{set1(0), set1(0)};
    for (int64_t t = 0; t < l.rows; ++t) position_gradients(f, l, t, norms);
    return {static_cast<double>(reduce_add(norms.left)),
            static_cast<double>(reduce_add(norms.part))};
}

}  // namespace aft::ops::cpu::AFT_CPU
