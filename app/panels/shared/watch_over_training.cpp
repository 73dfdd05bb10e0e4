#include "app/panels/shared/watch_over_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace aft::app {
namespace {

template <class One>
std::string why_not_among(const std::vector<One>& list, const One& one) {
    if (std::any_of(list.begin(), list.end(), [&](const One& old) { return old.measures_as(one); }))
        return "It is watched already, in Watched.";
    if (list.size() >= Experiments::kMostOfAKind)
        return fmt::format("{} of a kind are watched at most: remove one in Watched.",
                           Experiments::kMostOfAKind);
    return "";
}

// kept: the experiment alone.
template <class One>
void add_experiment(Ui& ui, std::vector<One>& list, One one, const Experiments& kept) {
    if (kept_bytes(kept) > kMostExperimentBytes) {
        ui.toasts.add({.kind = ToastKind::error,
                       .title = "Not watched",
                       .detail = fmt::format("It takes {} bytes where it is kept, at most {} are "
                                             "allowed.",
                                             kept_bytes(kept), kMostExperimentBytes)});
        return;
    }
    ui.toasts.add({.kind = ToastKind::done,
                   .title = "Watched over training",
                   .detail = one.name + ", at every saved step",
                   .action = "Show",
                   .run = [](Ui& now) {
                       now.commands.send(ShowWorkspace{Workspace::train});
                       now.commands.send(ShowPane{"watched"});
                   }});
    list.push_back(std::move(one));
}

}  // namespace

std::string why_not_watch(const ViewState& ui, const WatchedRecipe& one) {
    return why_not_among(ui.experiments.recipes, one);
}

std::string why_not_watch(const ViewState& ui, const WatchedCompletion& one) {
    return why_not_among(ui.experiments.completions, one);
}

void watch_over_training(Ui& ui, WatchedRecipe one) {
    add_experiment(ui, ui.experiments.recipes, one, {.recipes = {one}});
}

void watch_over_training(Ui& ui, WatchedCompletion one) {
    add_experiment(ui, ui.experiments.completions, one, {.completions = {one}});
}

}  // namespace aft::app
