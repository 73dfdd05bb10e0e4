#include "app/cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/check.h"
#include "core/text.h"

namespace aft::app {
namespace {

template <class Number>
std::optional<Number> parse_number(const std::string& text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string range_text(const std::string& kind, const std::string& low, const std::string& high) {
    return high.empty() ? fmt::format("{} from {} on", kind, low)
                        : fmt::format("{} from {} to {}", kind, low, high);
}

int64_t whole_in_range(const WholeFlag& flag, const std::string& text) {
    const std::optional<int64_t> value = parse_number<int64_t>(text);
    if (!value || *value < flag.low || *value > flag.high) {
        const bool open = flag.high == std::numeric_limits<int64_t>::max();
        fail_usage("{}: found '{}'; allowed: {}", flag.name, text,
                   range_text("a whole number", std::to_string(flag.low),
                              open ? "" : std::to_string(flag.high)));
    }
    return *value;
}

std::string range_text(const RealFlag& flag) {
    if (flag.above_low) return fmt::format("a number above {}, up to {}", flag.low, flag.high);
    return range_text("a number", fmt::format("{}", flag.low),
                      std::isinf(flag.high) ? "" : fmt::format("{}", flag.high));
}

double real_in_range(const RealFlag& flag, const std::string& text) {
    const std::optional<double> value = parse_number<double>(text);
    if (!value || !std::isfinite(*value) || *value < flag.low || *value > flag.high ||
        (flag.above_low && *value == flag.low))
        fail_usage("{}: found '{}'; allowed: {}", flag.name, text, range_text(flag));
    return *value;
}

template <class Store>
CLI::Option* add_parsed(CLI::App& app, const std::string& name, const std::string& help,
                        Store store) {
    return app.add_option_function<std::string>(name, store, help)->type_name("N")->take_last();
}

}  // namespace

void add_whole(CLI::App& app, const WholeFlag& flag, int64_t& target) {
    add_parsed(app, flag.name, flag.help,
               [flag, &target](const std::string& text) { target = whole_in_range(flag, text); });
}

void add_whole(CLI::App& app, const WholeFlag& flag, std::optional<int64_t>& target) {
    add_parsed(app, flag.name, flag.help,
               [flag, &target](const std::string& text) { target = whole_in_range(flag, text); });
}

void add_seed(CLI::App& app, const std::string& help, uint64_t& target) {
    add_parsed(app, "--seed", help, [&target](const std::string& text) {
        const std::optional<uint64_t> value = parse_number<uint64_t>(text);
        if (!value) fail_usage("--seed: found '{}'; allowed: a whole number from 0 on", text);
        target = *value;
    });
}

void add_real(CLI::App& app, const RealFlag& flag, double& target) {
    add_parsed(app, flag.name, flag.help, [flag, &target](const std::string& text) {
        target = real_in_range(flag, text);
    })->type_name("X");
}

void add_text(CLI::App& app, const TextFlag& flag, std::string& target) {
    app.add_option(flag.name, target, flag.help)
        ->type_name(flag.type)
        ->required(flag.required)
        ->take_last();
}

void add_text(CLI::App& app, const TextFlag& flag, std::optional<std::string>& target) {
    add_parsed(app, flag.name, flag.help, [&target](const std::string& text) { target = text; })
        ->type_name(flag.type)
        ->required(flag.required);
}

void add_data(CLI::App& app, const std::string& help, std::string& target) {
    const auto store = [&target](const std::string& text) {
        if (text.empty())
            fail_usage("--data: found ''; allowed: a data source, as mirror or images:DIR");
        target = text;
    };
    add_parsed(app, "--data", help, store)->type_name("SPEC");
}

void add_texts(CLI::App& app, const TextFlag& flag, std::vector<std::string>& target) {
    CLI::Option* option = app.add_option(flag.name, target, flag.help)->type_name(flag.type);
    option->required(flag.required);
    if (flag.name.starts_with("-")) option->allow_extra_args(false);
}

void add_choice(CLI::App& app, const ChoiceFlag& flag, std::string& target) {
    const auto store = [flag, &target](const std::string& text) {
        for (const std::string& choice : flag.choices) {
            if (text == choice) {
                target = text;
                return;
            }
        }
        fail_usage("{}: found '{}'; allowed: {}", flag.name, text, fmt::join(flag.choices, ", "));
    };
    add_parsed(app, flag.name, flag.help, store)
        ->type_name(fmt::format("{}", fmt::join(flag.choices, "|")));
}

void add_switch(CLI::App& app, const std::string& name, const std::string& help, bool& target) {
    app.add_flag(name, target, help);
}

bool has_flag(const CLI::App& app, const std::string& name) {
    return app.get_option_no_throw(name) != nullptr;
}

bool is_given(const CLI::App& app, const std::string& name) {
    return app.count(name) > 0;
}

std::pair<int64_t, int64_t> parse_grid(const std::string& flag, const std::string& text) {
    constexpr int64_t kMost = 65536;
    const std::vector<std::string> sides = split(text, 'x');
    const auto side = [&](size_t i) {
        return i < sides.size() ? parse_number<int64_t>(sides[i]).value_or(0) : 0;
    };
    const int64_t height = side(0);
    const int64_t width = side(1);
    if (sides.size() != 2 || std::min(height, width) < 1 || std::max(height, width) > kMost) {
        fail_usage(
            "{}: found '{}'; allowed: two numbers from 1 to {} with an x between them, as in 8x12",
            flag, text, kMost);
    }
    return {height, width};
}

std::pair<std::string, std::string> parse_assignment(const std::string& flag,
                                                     const std::string& text) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        fail_usage("{}: found '{}'; allowed: KEY=VALUE, as in train.learning_rate=0.001", flag,
                   text);
    }
    return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace aft::app
