// Text from outside (names, keys, metadata, paths) as messages, terminals and the window may show
// it. Called where such text leaves the program or enters a message. Any thread, no state.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace aft {

// Control characters (C0, DEL, C1), characters that turn the direction of writing and what is not
// UTF-8 as escapes: "\x1b", "\u202e". The first keeps line ends and tabs, the second escapes them.
[[nodiscard]] std::string printable(std::string_view text);
[[nodiscard]] std::string printable_line(std::string_view text);

// printable() for text that is drawn each frame: copies only what needs escapes. The text outlives
// it.
class PrintableText {
  public:
    explicit PrintableText(std::string_view text);
    PrintableText(const PrintableText&) = delete;
    PrintableText& operator=(const PrintableText&) = delete;
    [[nodiscard]] std::string_view get() const { return text_; }
    [[nodiscard]] const char* begin() const { return text_.data(); }
    [[nodiscard]] const char* end() const { return text_.data() + text_.size(); }

  private:
    std::string escaped_;  // empty: nothing needed escapes
    std::string_view text_;
};

// One line of at most 80 characters of it, "..." where it is cut.
[[nodiscard]] std::string shown(std::string_view text);
// A path whole, of one that is longer than a file's name can be the end.
[[nodiscard]] std::string shown_path(const std::string& path);
// "a, b": the first ten of them, and how many more there are.
[[nodiscard]] std::string shown_names(const std::vector<std::string>& names);

}  // namespace aft
