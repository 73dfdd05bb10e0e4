#include "app/cli/usage.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/commands/rooms.h"
#include "core/check.h"
#include "core/text.h"
#include "model/system.h"

namespace aft::app {
namespace {

std::vector<std::string> flags_of(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
        for (const CLI::Option* option : app->get_options()) {
            for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        }
    }
    std::sort(names.begin(), names.end());  // --help is there once per command and once for all
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::string extra_message(const CLI::App& command, const std::string& extra) {
    if (!extra.starts_with("-")) return fmt::format("takes no further argument, found '{}'", extra);
    const std::string flag = extra.substr(0, extra.find('='));
    const std::vector<std::string> known = flags_of(command);
    const std::string nearest = nearest_word(flag, known);
    const std::string hint = nearest.empty() ? fmt::format("allowed: {}", fmt::join(known, ", "))
                                             : fmt::format("did you mean {}?", nearest);
    return fmt::format("unknown flag '{}'; {}", flag, hint);
}

std::string parse_message(const CLI::App& command, const CLI::ParseError& error) {
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
        // Commands hand what they do not know to the program, whose global flags it may be.
        const CLI::App* root = command.get_parent() == nullptr ? &command : command.get_parent();
        const std::vector<std::string> extras = root->remaining(true);
        if (!extras.empty()) return extra_message(command, extras.front());
    }
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
        const std::string text = error.what();
        return fmt::format("{} needs a value", text.substr(0, text.find(':')));
    }
    return error.what();
}

}  // namespace

std::string usage_message(const CLI::App& command, const CLI::ParseError& error) {
    const std::string name = command.get_parent() == nullptr ? "" : " " + command.get_name();
    return fmt::format("{}{} (see: afterimage{} --help)", name.empty() ? "" : name.substr(1) + ": ",
                       parse_message(command, error), name);
}

std::string unknown_command_message(const std::string& word) {
    std::vector<std::string> known;
    for (const CommandRoom& room : commands()) known.push_back(room.info.name);
    const std::string nearest = nearest_word(word, known);
    return fmt::format("'{}' is no command and no file{}; commands: {}", word,
                       nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest),
                       fmt::join(known, ", "));
}

std::string plain_error(const std::exception& error, bool verbose) {
    const std::string words = plain_words(error), all = error.what();
    if (all.find('\n') == std::string::npos) return words;  // LibTorch adds where in its own code
    return words + (verbose ? "\n" + all : " (--verbose says more)");
}

}  // namespace aft::app
