#include "app/cli/ranks.h"

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "core/caught.h"
#include "core/check.h"
#include "core/json.h"
#include "core/outside.h"
#include "model/jobs/train.h"
#include "model/system.h"

namespace aft::app {
namespace {

// Leaf by leaf, "/set/0": the first that differs.
void check_same(RankGroup& group, const nlohmann::json& work) {
    const std::vector<std::string> said = group.gather(json_text(work));
    const nlohmann::json leads = parse_json(said[0], {.file = group.name(0)}).flatten();
    for (size_t rank = 1; rank < said.size(); ++rank) {
        const std::string name = group.name(static_cast<int>(rank));
        const nlohmann::json other = parse_json(said[rank], {.file = name}).flatten();
        for (const auto* both : {&leads, &other})
            for (const auto& [key, value] : both->items()) {
                const auto text = [&](const nlohmann::json& from) {
                    return from.contains(key) ? found_json(from.at(key)) : std::string("nothing");
                };
                if (text(leads) != text(other))
                    fail("the ranks do not do the same: {} has {} for {}, rank 0 has {}", name,
                         text(other), printable(key), text(leads));
            }
    }
}

void say_ranks(const RankGroup& group, int64_t threads) {
    std::string names = group.name(0);
    for (int rank = 1; rank < std::min(group.size(), 8); ++rank) names += ", " + group.name(rank);
    print_note(fmt::format("{} ranks of {} {}: {}{}", group.size(), threads,
                           threads == 1 ? "thread" : "threads", names,
                           group.size() > 8 ? ", ..." : ""));
}

}  // namespace

void add_rank_flags(CLI::App& command, RankFlags& flags) {
    add_whole(command, {"--nproc", "processes of this machine that share the work", 1, 1024},
              flags.nproc);
    add_real(command,
             {"--rank-timeout", "seconds until a rank that does not answer is given up", 1, 86400},
             flags.timeout_seconds);
}

Ranks::Ranks(const RankFlags& flags, const Globals& globals, const nlohmann::json& work)
    : globals_(globals) {
    std::optional<RankPlace> place = rank_place();
    if (place && flags.nproc > 1)
        fail_usage("--nproc {}: this process is rank {} of {} already ({})", flags.nproc,
                   place->rank, place->size, place->said_by);
    if (flags.nproc > 1) {
        others_ = std::make_unique<LocalRanks>(static_cast<int>(flags.nproc));
        place = others_->place();
    }
    if (!place) return;
    if (place->rank != 0) hold_signals();
    choose_gpu(place->local_rank);
    if (globals_.threads == 0)
        globals_.threads =
            std::max<int64_t>(1, int64_t{std::thread::hardware_concurrency()} / place->local_size);
    group_ = std::make_unique<RankGroup>(*place, flags.timeout_seconds);
    check_same(*group_, work);
    if (leads()) say_ranks(*group_, globals_.threads);
}

int follow_job(const Ranks& ranks, const std::function<void(const JobControl&)>& job) {
    initialize_model(ranks.globals().device, ranks.globals().threads);
    std::stop_source stop;
    const std::exception_ptr error = caught([&] {
        job({.report =
                 [&stop](const Progress&) {
                     if (is_stop_asked()) stop.request_stop();
                 },
             .stop = stop.get_token()});
    });
    if (!error) return 0;
    // That another rank is lost is the leader's to say, who writes to the same place.
    if (is_child_rank() && ranks.group()->is_broken()) return 1;
    std::rethrow_exception(error);
}

int follow_training(const Ranks& ranks) {
    return follow_job(ranks, [&ranks](const JobControl&) {
        serve_train_job(*ranks.group(), ranks.globals().device);
    });
}

}  // namespace aft::app
