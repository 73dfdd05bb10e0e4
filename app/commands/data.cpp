// afterimage data pack: a folder of pictures as tar shards.
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/results_json.h"
#include "app/cli/work.h"
#include "app/commands/rooms.h"
#include "core/check.h"
#include "model/jobs/pack.h"

namespace aft::app {
namespace {

struct PackFlags {
    PackRequest request;
    std::string action;
    bool json = false;
};

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<PackFlags>();
    PackRequest& request = flags->request;
    add_choice(command, {"ACTION", "pack: pictures into tar shards (WebDataset)", {"pack"}},
               flags->action);
    add_text(command,
             {"SPEC", "pictures that are files, with options as in --data", "images:DIR", true},
             request.data);
    add_text(command,
             {"-o,--out",
              "shards to write, a number in place of %05d or *; 'train' gives way to 'val' and "
              "'test' for the other parts",
              "DIR/train-%05d.tar", true},
             request.out);
    add_whole(command, {"--shard-mb", "MiB of a shard at most (256)", 1, int64_t{1} << 20},
              request.shard_mb);
    add_whole(command, {"--seed", "shuffle the pictures of each part (else by their names)", 0},
              request.seed);
    add_switch(command, "--force", "replace shards that are there", request.force);
    add_switch(command, "--json", "print one JSON object", flags->json);
    return [flags](const Globals& globals) {
        if (flags->action.empty()) fail_usage("data: the action is missing; allowed: pack");
        Work work(globals);
        const PackResult result = pack_pictures(flags->request, work.control());
        work.finish_progress();
        print_result(to_json(result), flags->json);
        return 0;
    };
}

}  // namespace

CommandRoom data_command() {
    return {.info = {"data", "Packs a folder of pictures into tar shards, for data at scale."},
            .example = "afterimage data pack images:photos -o 'shards/train-*.tar'",
            .setup = setup};
}

}  // namespace aft::app
