#include "app/cli/program.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/usage.h"
#include "app/commands/rooms.h"
#include "core/check.h"
#include "core/environment.h"
#include "core/files.h"
#include "core/outside.h"
#include "core/progress.h"
#include "core/rooms.h"
#include "core/system/heap.h"

namespace aft::app {
namespace {

bool looks_like_path(const std::string& word) {
    std::error_code ignored;
    return word.find_first_of("/.") != std::string::npos || fs::exists(word, ignored);
}

bool takes_value(const std::string& word) {
    return word == "--device" || word == "--threads";
}

// The place of the first word that is no global flag: the command, or a path for the window.
size_t command_place(const std::vector<std::string>& words) {
    size_t i = 0;
    while (i < words.size() && words[i].starts_with("-")) i += takes_value(words[i]) ? 2 : 1;
    return std::min(i, words.size());
}

bool asks_for_help(const std::vector<std::string>& words) {
    return std::any_of(words.begin(), words.end(), [](const std::string& word) {
        return word == "--help" || word == "-h" || word == "--version";
    });
}

// `help` is --help, `help COMMAND` is `COMMAND --help`.
void replace_help(std::vector<std::string>& words) {
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(command_place(words));
    const auto end =
        std::find_if(begin, words.end(), [](const std::string& word) { return word != "help"; });
    if (begin == end) return;
    words.erase(begin, end);
    words.emplace_back("--help");
}

// `afterimage [PATH...]` is short for `afterimage window [PATH...]`.
void add_window_command(std::vector<std::string>& words) {
    const size_t place = command_place(words);
    if (place < words.size() && room_named(commands(), words[place]) != nullptr) return;
    if (place < words.size() && !looks_like_path(words[place])) {
        throw Error(unknown_command_message(words[place]), ErrorKind::usage);
    }
    if (place == words.size() && asks_for_help(words)) return;
    if (room_named(commands(), "window") == nullptr) {
        fail_usage(
            "this program was built without its window; use 'afterimage train "
            "--preset demo-mirror' or 'afterimage --help'");
    }
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(place), "window");
}

struct Arguments {
    CLI::App root{"Trains and opens Attention Free Transformers and shows what they learn.",
                  "afterimage"};
    Globals globals;
    const CommandRoom* room = nullptr;
    CommandRun run;
};

void add_commands(Arguments& arguments, const std::string& chosen) {
    for (const CommandRoom& room : commands()) {
        CLI::App* command = arguments.root.add_subcommand(room.info.name, room.info.sentence);
        command->fallthrough();
        command->footer(
            fmt::format("Example:\n  {}\n\nGlobal flags (--device, --threads, "
                        "--verbose): afterimage --help",
                        room.example));
        if (room.info.name != chosen) continue;
        arguments.room = &room;
        arguments.run = room.setup(*command);
    }
}

void add_globals(Arguments& arguments) {
    CLI::App& root = arguments.root;
    add_choice(
        root,
        {"--device", "where to compute (auto: cuda if there is one)", {"cpu", "cuda", "auto"}},
        arguments.globals.device);
    add_whole(root, {"--threads", "threads to compute with (0: all cores)", 0, 1024},
              arguments.globals.threads);
    add_switch(root, "--verbose", "say more on standard error", arguments.globals.verbose);
    root.set_version_flag("--version", "afterimage " + version());
    root.footer(
        "afterimage [PATH...] opens the window: on a checkpoint, a run folder, an image, or "
        "the Home screen; several models are compared.\nafterimage COMMAND --help, or help "
        "COMMAND, shows a command's flags and an example.");
    root.require_subcommand(0, 1);
    root.get_formatter()->label("OPTIONS", "FLAGS");
    root.get_formatter()->label("SUBCOMMAND", "COMMAND");
    root.get_formatter()->label("Subcommands", "Commands");
}

// True when the program should end at once (help, version); throws usage Error.
bool parse(Arguments& arguments, std::vector<std::string> words) {
    replace_help(words);
    add_window_command(words);
    const size_t place = command_place(words);
    add_globals(arguments);
    add_commands(arguments, place < words.size() ? words[place] : "");
    std::reverse(words.begin(), words.end());
    const CLI::App& command = arguments.room == nullptr
                                  ? arguments.root
                                  : *arguments.root.get_subcommand(arguments.room->info.name);
    try {
        arguments.root.parse(words);
    } catch (const CLI::CallForVersion& call) {
        print_result(std::string(call.what()) + "\n");
        return true;
    } catch (const CLI::CallForHelp&) {
        print_result(arguments.root.help());
        return true;
    } catch (const CLI::ParseError& error) {
        throw Error(usage_message(command, error), ErrorKind::usage);
    }
    return false;
}

// Threads that spin for long while they wait for work take the cores away from drawing, threads
// that sleep early must be woken. demo-mirror on 2 cores with the window open, steps a second, and
// frames within 33 ms while one hovers: 3,000 turns 50 and 99.9 %, 30,000 turns 55 and 99.9 %, the
// usual 300,000 turns 51 and 99.7 %. OpenMP reads this when it is loaded: the program starts itself
// anew.
void share_cores_with_drawing(char** argv) {
    constexpr const char* kTurns = "30000";
    if (!variable("OMP_WAIT_POLICY").empty() || !variable("GOMP_SPINCOUNT").empty()) return;
    setenv("GOMP_SPINCOUNT", kTurns, 1);
    std::error_code none;
    const std::string self = std::filesystem::read_symlink("/proc/self/exe", none);
    if (!none) execv(self.c_str(), argv);  // where this fails the program continues without
}

int run(char** argv, Arguments& arguments, const std::vector<std::string>& words) {
    if (parse(arguments, words)) return 0;
    const CommandRoom& room = *arguments.room;
    if (room.draws != nullptr && room.draws(*arguments.root.get_subcommand(room.info.name)))
        share_cores_with_drawing(argv);
    return arguments.run(arguments.globals);
}

int report_error(const std::string& message, int code) {
    fmt::print(stderr, "afterimage: {}\n", printable(message));
    return code;
}

}  // namespace

int run_program(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);  // a closed pipe and a full disk are errors, not deaths
    std::signal(SIGXFSZ, SIG_IGN);
    keep_freed_memory();
    Arguments arguments;
    try {
        return run(argv, arguments, {argv + 1, argv + argc});
    } catch (const Interrupted&) {
        return report_error("interrupted", 130);
    } catch (const Error& error) {
        return report_error(error.what(), error.kind() == ErrorKind::usage ? 2 : 1);
    } catch (const std::exception& error) {
        return report_error(plain_error(error, arguments.globals.verbose), 1);
    } catch (...) {
        return report_error("an unknown error", 1);
    }
}

}  // namespace aft::app
