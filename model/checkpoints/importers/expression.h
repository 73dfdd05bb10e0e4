// SizeTable of a mapping file: "size(blocks.0.mlp.fc1.weight, 0) / dim", "sqrt(dim)". Known: whole
// numbers, + - * /, brackets, sqrt(x), names of other sizes, and what `facts` answers:
// size(NAME, AXIS), count(PATTERN), ones(NAME), has(PATTERN). Bounded in depth. No LibTorch. Any
// thread.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace aft::imports {

struct Facts {  // of the tensors of a file; Error where there is no such tensor or axis
    std::function<int64_t(const std::string& name, int64_t axis)> size;
    std::function<int64_t(const std::string& pattern)> count;  // layers, from 0 on without a gap
    std::function<int64_t(const std::string& name)> ones;      // in the first row of a mask
    std::function<bool(const std::string& pattern)> has;
};

struct SizeTable {
    std::map<std::string, std::string> sizes;  // name -> expression
    Facts facts;
};

// Error, naming the expression, on anything that is not one.
[[nodiscard]] double evaluate(const std::string& expression, const SizeTable& numbers);
// As evaluate(), and Error where it is not a whole number from 0 to 2^53.
[[nodiscard]] int64_t whole_number(const std::string& expression, const SizeTable& numbers);

}  // namespace aft::imports
