#include "app/state/commands.h"

#include <algorithm>
#include <utility>

namespace aft::app {

namespace {

bool is_quit(const Command& command) {
    return std::holds_alternative<Quit>(command);
}

}  // namespace

std::vector<Command> Commands::take() {
    std::vector<Command> taken = std::exchange(queue_, {});
    const auto quits = std::stable_partition(taken.begin(), taken.end(),
                                             [](const Command& one) { return !is_quit(one); });
    queue_.assign(quits, taken.end());
    taken.erase(quits, taken.end());
    return taken;
}

bool Commands::is_quitting() const {
    return std::any_of(queue_.begin(), queue_.end(), is_quit);
}

bool Commands::has_waiting() const {
    return !std::all_of(queue_.begin(), queue_.end(), is_quit);
}

void Commands::stay() {
    std::erase_if(queue_, is_quit);
}

}  // namespace aft::app
