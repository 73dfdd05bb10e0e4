// Completion: the answer to a CompletionRequest while it grows. Plain types. No LibTorch. Any
// thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace aft {

// Filled in live; a new object at every publication (about 10 a second).
struct Completion {
    uint64_t id = 0;
    int64_t step = 0;                 // of the weights
    int64_t position = 0, total = 0;  // tokens decided, T
    bool done = false, stopped = false;
    std::string error;
    std::vector<std::vector<uint8_t>> samples;  // n x T, valid up to position
    std::vector<double> log_likelihood;  // nats over filled positions, temperature 1, untruncated
    std::vector<std::vector<float>> surprise, entropy;  // n x T, bits; NaN where not filled
    std::vector<uint8_t> unknown;
    double seconds = 0;
};

}  // namespace aft
