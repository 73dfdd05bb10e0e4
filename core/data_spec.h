// DataSpec: the words that name data, NAME[:PATH][?key=value&key=value...], cut into their three
// parts and put together again. Pure text; any thread.
#pragma once
#include <set>
#include <string>
#include <string_view>

namespace aft {

struct DataSpec {
    std::string room{}, path{};  // "cifar10", "data/cifar10"; path empty: the room makes its data
    std::string options{};       // "?size=16", or empty
    [[nodiscard]] std::string text() const;
};

// A path may hold a question mark: options begin at the last one that is followed by key=.
[[nodiscard]] DataSpec split_data_spec(std::string_view text);

// `spec` with the options of `usual` that it does not name, where both are of one room: a preset's
// size stays where only the folder is another.
// `but_for`: options that are said in another way.
[[nodiscard]] std::string with_usual_options(std::string_view spec, std::string_view usual,
                                             const std::set<std::string>& but_for = {});

}  // namespace aft
