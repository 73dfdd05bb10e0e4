// The examples of a source in their parts, and how a set that has no parts is divided. Any thread;
// no state.
#pragma once
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "model/data/source.h"

namespace aft {

template <class Item>
struct SplitParts {
    std::array<std::vector<Item>, 3> by_split{};
    [[nodiscard]] std::vector<Item>& part(Split split) {
        return by_split[static_cast<size_t>(split)];
    }
    [[nodiscard]] const std::vector<Item>& part(Split split) const {
        return by_split[static_cast<size_t>(split)];
    }
};

inline constexpr int64_t kUsualHoldout = 10, kMostHoldout = 90;  // percent

// Whether a file of this name is among the `percent` that are held out: by the hash of the name, so
// that it depends on no machine, and what is held out at 10 % is held out at 20 %, too.
[[nodiscard]] bool is_held_out(std::string_view name, int64_t percent);

// Moves `percent` of the training part, which has something, to the validation part.
template <class Item, class NameOf>
void hold_out(SplitParts<Item>& parts, int64_t percent, const NameOf& name_of) {
    std::vector<Item>&train = parts.part(Split::train), &held = parts.part(Split::validation), rest;
    for (Item& item : train)
        (is_held_out(name_of(item), percent) ? held : rest).push_back(std::move(item));
    // A very small set: one is held out all the same, and one is always left.
    if (percent > 0 && held.empty() && rest.size() > 1) {
        held.push_back(std::move(rest.back()));
        rest.pop_back();
    }
    if (rest.empty()) {
        rest.push_back(held.back());
        if (held.size() > 1) held.pop_back();
    }
    train = std::move(rest);
}

template <class Item>
void put_all_into_test(SplitParts<Item>& parts) {
    std::vector<Item> all;
    for (const Split split : {Split::train, Split::validation, Split::test})
        for (Item& item : parts.part(split)) all.push_back(std::move(item));
    parts = {};
    parts.part(Split::test) = std::move(all);
}

// ?split=all
[[nodiscard]] bool wants_all_parts(const Spec& spec);

}  // namespace aft
