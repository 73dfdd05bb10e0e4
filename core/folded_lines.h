// Lines with names of tensors, of which those that differ in the number of the layer alone are one:
// "blocks.{0..11}.norm1.weight". Any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace aft {

class FoldedLines {
  public:
    // every_tensor: no two lines become one.
    explicit FoldedLines(bool every_tensor = false) : every_tensor_(every_tensor) {}

    // `names` with " -> " between them, then `rest`.
    void add(const std::vector<std::string>& names, std::string rest);
    // One each, in the order in which they came; control characters of names are escaped.
    [[nodiscard]] std::vector<std::string> lines() const;
    // A line each, two blanks before it.
    [[nodiscard]] std::string words() const;

    // A name around its first whole number, the layer's: "blocks.", 3, ".norm1.weight".
    struct NumberedName {
        std::string head{}, tail{};
        int64_t number = -1;  // none: all of it is the head
    };
    // One line, or several that differ in their numbers alone.
    struct Line {
        std::vector<NumberedName> names{};          // of the first of them
        std::string rest{};                         // behind the names
        std::vector<std::vector<int64_t>> numbers;  // of each name, in all of them
    };

  private:
    bool every_tensor_;
    std::vector<Line> lines_;
};

// Of names with words behind a blank or without: "a.{0..2}.x (starts anew)", one each.
[[nodiscard]] std::vector<std::string> folded_lines(const std::vector<std::string>& names);
// The first `most` of them, "a.{0..2}.x, b", and how many there are beyond.
[[nodiscard]] std::string folded_names(const std::vector<std::string>& names, size_t most);

}  // namespace aft
