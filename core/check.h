// Errors. Bad input, files and devices: AFT_CHECK throws aft::Error, the one exception of the
// program. Programmer mistakes: AFT_ASSERT aborts (on in all builds unless AFTERIMAGE_ASSERTS=OFF).
// Any thread. A message says what was found, what is allowed, where (file, key, flag) and the
// remedy.
#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace aft {

enum class ErrorKind { failed, usage };  // exit code 1, exit code 2

class Error : public std::runtime_error {
  public:
    explicit Error(const std::string& message, ErrorKind kind = ErrorKind::failed)
        : std::runtime_error(message), kind_(kind) {}
    [[nodiscard]] ErrorKind kind() const { return kind_; }

  private:
    ErrorKind kind_;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
    throw Error(fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
[[noreturn]] void fail_usage(fmt::format_string<Args...> text, Args&&... args) {
    throw Error(fmt::format(text, std::forward<Args>(args)...), ErrorKind::usage);
}

[[noreturn]] void assert_failed(const char* condition, const char* file, int line);

}  // namespace aft

#define AFT_CHECK(condition, ...)                   \
    do {                                            \
        if (!(condition)) ::aft::fail(__VA_ARGS__); \
    } while (false)

#if AFT_ASSERTS
#define AFT_ASSERT(condition)                                                   \
    do {                                                                        \
        if (!(condition)) ::aft::assert_failed(#condition, __FILE__, __LINE__); \
    } while (false)
#else
#define AFT_ASSERT(condition) static_cast<void>(0)
#endif
