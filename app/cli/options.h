// Options of commands whose mistakes become messages that name the flag, what was found and what is
// allowed. Main thread, while arguments are read.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace aft::app {

struct WholeFlag {
    std::string name, help;
    int64_t low = 0, high = std::numeric_limits<int64_t>::max();
};
struct RealFlag {
    std::string name, help;
    double low = 0, high = std::numeric_limits<double>::infinity();
    bool above_low = false;  // low itself is not allowed
};
struct TextFlag {
    std::string name, help, type = "TEXT";
    bool required = false;
};
struct ChoiceFlag {
    std::string name, help;
    std::vector<std::string> choices;
};

void add_whole(CLI::App& app, const WholeFlag& flag, int64_t& target);
void add_whole(CLI::App& app, const WholeFlag& flag, std::optional<int64_t>& target);
void add_seed(CLI::App& app, const std::string& help, uint64_t& target);  // --seed
void add_real(CLI::App& app, const RealFlag& flag, double& target);
void add_text(CLI::App& app, const TextFlag& flag,
              std::string& target);  // a name without dashes: a positional
void add_text(CLI::App& app, const TextFlag& flag,
              std::optional<std::string>& target);  // distinguished: an empty one and none
// --data; an empty one is an error, for none is the model's own.
void add_data(CLI::App& app, const std::string& help, std::string& target);
void add_texts(CLI::App& app, const TextFlag& flag,
               std::vector<std::string>& target);  // repeatable
void add_choice(CLI::App& app, const ChoiceFlag& flag, std::string& target);
void add_switch(CLI::App& app, const std::string& name, const std::string& help, bool& target);

[[nodiscard]] bool has_flag(const CLI::App& app, const std::string& name);  // "--layer"
[[nodiscard]] bool is_given(const CLI::App& app,
                            const std::string& name);  // once arguments are read

// "8x12" -> {8, 12}; usage Error that names the flag.
[[nodiscard]] std::pair<int64_t, int64_t> parse_grid(const std::string& flag,
                                                     const std::string& text);
// "key=value" -> both; usage Error that names the flag.
[[nodiscard]] std::pair<std::string, std::string> parse_assignment(const std::string& flag,
                                                                   const std::string& text);

}  // namespace aft::app
