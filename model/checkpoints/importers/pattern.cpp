#include "model/checkpoints/importers/pattern.h"

#include <cctype>

#include "core/check.h"
#include "core/outside.h"

namespace aft::imports {

namespace {

constexpr const char* kNumber = "i";

// The placeholder at the start of the pattern, taken off it; empty where there is none.
std::string take_placeholder(std::string_view& pattern) {
    if (!pattern.starts_with('{')) return "";
    const size_t end = pattern.find('}');
    if (end == std::string_view::npos || end == 1)
        fail("pattern '{}': a placeholder is {{name}}", shown(pattern));
    std::string name(pattern.substr(1, end - 1));
    pattern.remove_prefix(end + 1);
    return name;
}

size_t length_of_piece(std::string_view name, bool is_number) {
    size_t n = 0;
    while (n < name.size() && name[n] != '.' &&
           (!is_number || std::isdigit(static_cast<unsigned char>(name[n])) != 0))
        ++n;
    return n;
}

}  // namespace

std::optional<Bindings> match(std::string_view pattern, std::string_view name) {
    Bindings bindings;
    while (!pattern.empty()) {
        const std::string placeholder = take_placeholder(pattern);
        if (placeholder.empty()) {
            if (name.empty() || name.front() != pattern.front()) return {};
            name.remove_prefix(1);
            pattern.remove_prefix(1);
            continue;
        }
        const size_t n = length_of_piece(name, placeholder == kNumber);
        if (n == 0) return {};
        const std::string piece(name.substr(0, n));
        const auto [known, is_new] = bindings.emplace(placeholder, piece);
        if (!is_new && known->second != piece) return {};
        name.remove_prefix(n);
    }
    if (!name.empty()) return {};
    return bindings;
}

std::string fill_in(std::string_view pattern, const Bindings& bindings) {
    const std::string whole(pattern);
    std::string out;
    while (!pattern.empty()) {
        const std::string placeholder = take_placeholder(pattern);
        if (placeholder.empty()) {
            out += pattern.front();
            pattern.remove_prefix(1);
            continue;
        }
        const auto found = bindings.find(placeholder);
        if (found == bindings.end())
            fail("'{}': nothing says what {{{}}} stands for", shown(whole), shown(placeholder));
        out += found->second;
    }
    return out;
}

}  // namespace aft::imports
