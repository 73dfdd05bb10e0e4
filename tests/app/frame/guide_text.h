// docs/guide.md as the tests read it: of each question the steps, the commands, and which number of
// the screen is which one of a command. Tests only.
#pragma once
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "core/files.h"
#include "tests/source_file.h"

namespace aft::app {

// "WIDGET n3 = [exp] FILE PLACE [* FACTOR]"
struct SameNumber {
    std::string widget, file, place;
    size_t number = 1;  // which one of the widget's value, from 1
    bool is_exp = false;
    double factor = 1;
};
struct Question {
    std::string title;
    std::vector<std::string> actions, commands, recipes;
    std::string shows;  // id of a widget
    std::vector<SameNumber> same;
};

inline SameNumber same_number(const std::string& line) {
    SameNumber out;
    std::istringstream words(line);
    std::string word;
    words >> out.widget >> word;
    if (word.front() == 'n') {
        out.number = std::stoul(word.substr(1));
        words >> word;
    }
    words >> out.file;
    if (out.file == "exp") {
        out.is_exp = true;
        words >> out.file;
    }
    for (bool is_factor = false; words >> word;) {
        if (is_factor) out.factor = std::stod(word);
        if (word == "*")
            is_factor = true;
        else if (!is_factor)
            out.place += (out.place.empty() ? "" : " ") + word;
    }
    return out;
}

inline std::vector<std::string> block_of(std::istream& text) {
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line) && line != "```";) lines.push_back(line);
    return lines;
}

// Sections "## N. ..." with a block ```steps.
inline std::vector<Question> guide_questions() {
    std::istringstream text(read_file(source_file("docs/guide.md")));
    std::vector<Question> out;
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with("## ")) {
            out.emplace_back();
            out.back().title = line.substr(3);
        }
        if (out.empty()) continue;
        Question& question = out.back();
        if (line.starts_with("    afterimage ")) question.commands.push_back(line.substr(4));
        if (line == "```recipe")
            for (const std::string& recipe : block_of(text)) question.recipes.push_back(recipe);
        if (line == "```same")
            for (const std::string& one : block_of(text)) question.same.push_back(same_number(one));
        if (line != "```steps") continue;
        for (const std::string& step : block_of(text))
            step.starts_with("shows ") ? void(question.shows = step.substr(6))
                                       : question.actions.push_back(step);
    }
    return out;
}

struct ShownNumber {
    double value = 0;
    int decimals = 0;
};
// Of "+1.635 bits/dim  +- 0.071": 1.635 with 3 decimals, 0.071.
inline std::vector<ShownNumber> shown_numbers(const std::string& words) {
    std::vector<ShownNumber> out;
    const auto is_digit = [&](size_t i) { return i < words.size() && std::isdigit(words[i]) != 0; };
    for (size_t i = 0; i < words.size();) {
        if (!is_digit(i)) {
            ++i;
            continue;
        }
        size_t end = i;
        while (is_digit(end)) ++end;
        ShownNumber one;
        if (end < words.size() && words[end] == '.' && is_digit(end + 1)) {
            const size_t point = end++;
            while (is_digit(end)) ++end;
            one.decimals = int(end - point) - 1;
        }
        one.value = std::stod(words.substr(i, end - i));
        const bool is_negative =
            (i > 0 && words[i - 1] == '-') || (i > 2 && words.substr(i - 3, 3) == "\u2212");
        if (is_negative) one.value = -one.value;
        out.push_back(one);
        i = end;
    }
    return out;
}

// The value in the line that begins with `place`; "largest *,1": of those with this last index.
inline std::optional<double> csv_number(const std::filesystem::path& file,
                                        const std::string& place) {
    const std::string all = "largest *";
    const bool is_largest = place.starts_with(all);
    std::ifstream in(file);
    std::optional<double> found;
    for (std::string line; std::getline(in, line);) {
        const size_t comma = line.rfind(',');
        if (comma == std::string::npos) continue;
        const std::string index = line.substr(0, comma);
        const bool is_it = is_largest ? index.ends_with(place.substr(all.size())) : index == place;
        if (!is_it) continue;
        const double value = std::stod(line.substr(comma + 1));
        found = std::max(found.value_or(value), value);
    }
    return found;
}

// "/notes/half by word 2": of a text the second word.
inline std::optional<double> json_number(const nlohmann::json& json, const std::string& place) {
    const size_t of = place.find(" word ");
    const nlohmann::json::json_pointer at(place.substr(0, of));
    if (!json.contains(at)) return std::nullopt;
    if (json[at].is_number()) return json[at].get<double>();
    if (!json[at].is_string() || of == std::string::npos) return std::nullopt;
    std::istringstream words(json[at].get<std::string>());
    std::string word;
    for (size_t i = std::stoul(place.substr(of + 6)); i > 0; --i) words >> word;
    return std::stod(word);
}

}  // namespace aft::app
