// afterimage list: every room of every list, with its one sentence.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/program_json.h"
#include "app/commands/rooms.h"
#include "app/figures/figure.h"
#include "bench/bench.h"
#include "core/check.h"
#include "core/outside.h"
#include "model/jobs/import.h"
#include "model/jobs/lists.h"
#include "model/jobs/recipe.h"
#if AFT_WINDOW
#include "app/cli/window_api.h"
#endif

namespace aft::app {
namespace {

std::vector<NamedList> all_lists() {
    std::vector<NamedList> lists = model_lists();
    NamedList rooms{"commands", {}};
    for (const CommandRoom& room : commands()) rooms.rooms.push_back(room.info);
    lists.push_back(std::move(rooms));
    lists.push_back({"workloads", bench::workload_list()});
    lists.push_back({"peers", bench::peer_list()});
#if AFT_WINDOW
    for (NamedList& list : window_lists()) lists.push_back(std::move(list));
#endif
    NamedList drawn{"figures", {}};
    for (const FigureRoom& room : figures()) drawn.rooms.push_back(room.info);
    lists.push_back(std::move(drawn));
    lists.push_back({"importers", importer_list()});
    NamedList changes{"interventions", {}};
    for (const InterventionInfo& room : intervention_list()) changes.rooms.push_back(room.info);
    lists.push_back(std::move(changes));
    return lists;
}

// Of the actions, by their names: what scripts may write instead.
std::map<std::string, std::string> ids_of_actions() {
#if AFT_WINDOW
    return action_ids();
#else
    return {};
#endif
}

std::string list_words(const NamedList& list) {
    size_t width = 0;
    for (const RoomInfo& room : list.rooms)
        width = std::max(width, printable_line(room.name).size());
    std::string words = list.name + "\n";
    for (const RoomInfo& room : list.rooms) {
        words += fmt::format("  {:<{}}  {}\n", printable_line(room.name), width,
                             printable_line(room.sentence));
    }
    return words;
}

int list(const std::string& name, bool as_json) {
    std::vector<NamedList> lists = all_lists();
    std::vector<std::string> names;
    for (const NamedList& one : lists) names.push_back(one.name);
    if (!name.empty()) {
        std::erase_if(lists, [&](const NamedList& one) { return one.name != name; });
        if (lists.empty())
            fail_usage("list: found '{}'; allowed: {}", name, fmt::join(names, ", "));
    }
    if (as_json) {
        print_json(lists_json(lists, ids_of_actions()));
        return 0;
    }
    std::string words;
    for (const NamedList& one : lists) words += (words.empty() ? "" : "\n") + list_words(one);
    print_result(words);
    return 0;
}

CommandRun setup(CLI::App& command) {
    struct ListFlags {
        std::string name;
        bool json = false;
    };
    auto flags = std::make_shared<ListFlags>();
    add_text(command, {"LIST", "one list (default: all of them)", "NAME"}, flags->name);
    add_switch(command, "--json", "print one JSON object", flags->json);
    return [flags](const Globals&) { return list(flags->name, flags->json); };
}

}  // namespace

CommandRoom list_command() {
    return {.info = {"list",
                     "Lists everything there is: mixers, sources, probes, presets, commands ..."},
            .example = "afterimage list mixers",
            .setup = setup};
}

}  // namespace aft::app
