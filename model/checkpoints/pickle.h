// Pickle: a reader of Python's pickles, protocols 2 to 4, that executes nothing. What the stream
// calls (tensors, parameters, storages) becomes a node with a name and arguments, and only names
// on the caller's list are taken; any other, and any instruction beyond plain data, is an error
// that names it and its offset. No LibTorch, any thread. Time and memory in proportion to the
// bytes; nesting costs no stack.
// Format: Lib/pickletools.py of CPython.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aft {

struct PickleNode {
    enum class Kind : uint8_t {
        none,
        boolean,
        integer,
        real,
        text,
        bytes,
        tuple,
        list,
        dict,
        global,
        call,
        persistent
    };
    Kind kind = Kind::none;
    int64_t integer = 0;  // boolean, integer
    double real = 0;      // real
    // Text, bytes, integers beyond 64 bits (little endian); name of a global, or of the one that is
    // called.
    std::string text{};
    // Tuple, list; dict: key, value, key, value; call: arguments; persistent: its id.
    std::vector<uint32_t> items{};
};

struct PickleRules {
    std::span<const std::string_view> globals;  // "module.name", of those that may be named
    std::string where;                          // file, and entry: begins every message
};

class Pickle {
  public:
    static constexpr size_t kMostBytes = size_t{16} << 20;  // of one pickle

    // Reads the pickle that begins at `at` and moves `at` behind it.
    Pickle(std::string_view bytes, size_t& at, const PickleRules& rules);
    [[nodiscard]] const PickleNode& root() const { return nodes_[root_]; }
    [[nodiscard]] const PickleNode& operator[](uint32_t node) const { return nodes_[node]; }
    [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }

  private:
    friend class PickleMachine;
    std::vector<PickleNode> nodes_;
    uint32_t root_ = 0;
};

}  // namespace aft
