// Words about wrong arguments and about errors of libraries. Main thread.
#pragma once
#include <exception>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace aft::app {

// What was wrong in the arguments of `command`, what is near or allowed, and where help is.
[[nodiscard]] std::string usage_message(const CLI::App& command, const CLI::ParseError& error);
[[nodiscard]] std::string unknown_command_message(const std::string& word);
// One message for an error that is not aft::Error: plain_words() of jobs.h, and all of LibTorch's
// own where `verbose`.
[[nodiscard]] std::string plain_error(const std::exception& error, bool verbose);

}  // namespace aft::app
