// afterimage complete: fills in the masked part of a picture, or continues a text.
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/ranks.h"
#include "app/cli/results_json.h"
#include "app/cli/work.h"
#include "app/commands/rooms.h"
#include "app/state/picture_list.h"
#include "core/caught.h"
#include "core/check.h"
#include "core/outside.h"
#include "model/jobs/complete.h"

namespace aft::app {
namespace {

struct CompleteFlags {
    CompleteRequest request;
    std::optional<std::string> index;
    std::vector<int64_t> indices;  // of --index
    std::optional<int64_t> keep_rows, length, samples;
    std::string change;
    bool json = false;
    RankFlags ranks;
};

void check_origin(const CompleteFlags& flags) {
    const CompleteRequest& request = flags.request;
    const int origins =
        (request.image.empty() ? 0 : 1) + (request.prompt ? 1 : 0) + (request.data.empty() ? 0 : 1);
    const bool picture = !request.prompt;
    const int masks = (request.mask.empty() ? 0 : 1) + (flags.keep_rows ? 1 : 0);
    const bool says_nothing = origins == 0 && masks == 0;
    if (says_nothing || origins > 1) {
        fail_usage(
            "complete: needs --prompt TEXT, or a mask for one of --image FILE, --data SPEC (with "
            "--index N; default: the model's own), found {}",
            says_nothing ? "none" : "several");
    }
    if (picture && masks != 1) {
        fail_usage("complete: a picture needs one of --mask FILE, --keep-rows N, found {}",
                   masks == 0 ? "none" : "both");
    }
    if (!picture && masks != 0)
        fail_usage("complete: --mask and --keep-rows are for pictures, not --prompt");
    if (picture && flags.length) fail_usage("complete: --length is for --prompt, not for pictures");
    if (picture && request.out.empty())
        fail_usage("complete: -o PATH is missing: a folder, or one .png");
    if (flags.indices.size() > 1 && (!picture || !request.image.empty()))
        fail_usage("complete: several --index are examples of --data, found {}",
                   picture ? "--image" : "--prompt");
}

// SAMPLE:POSITION=LEVEL
ChangedValue parse_change(const std::string& words) {
    ChangedValue out;
    const char* at = words.data();
    const char* const end = at + words.size();
    bool is_right = true;
    const auto number = [&](int64_t& value, char after) {
        const auto [next, error] = std::from_chars(at, end, value);
        const bool is_last = after == 0;
        is_right = is_right && error == std::errc() && value >= 0 &&
                   (is_last ? next == end : next < end && *next == after);
        at = is_right && !is_last ? next + 1 : end;
    };
    number(out.sample, ':');
    number(out.position, '=');
    number(out.level, 0);
    if (!is_right)
        fail_usage("--change: found '{}', expected SAMPLE:POSITION=LEVEL, as in 0:136=15",
                   shown(words));
    return out;
}

void print_completions(const CompleteResult& result, const CompleteFlags& flags) {
    const bool has_file = !flags.request.prompt || !flags.request.out.empty();
    if (flags.json || has_file) return print_result(to_json(result), flags.json);
    for (const CompletedSample& sample : result.samples)
        print_result(sample.text.value_or("") + "\n\n");
}

// What has to be the same on all ranks.
nlohmann::json same_on_all(const CompleteFlags& flags) {
    const CompleteRequest& request = flags.request;
    const SampleOptions& sample = request.sample;
    return {{"MODEL", request.model},
            {"--image", request.image},
            {"--data", request.data},
            {"--index", flags.indices},
            {"--mask", request.mask},
            {"--keep-rows", request.keep_rows},
            {"--prompt", request.prompt.value_or("")},
            {"--length", request.length},
            {"--samples", sample.samples},
            {"--temperature", sample.temperature},
            {"--top-k", sample.top_k},
            {"--top-p", sample.top_p},
            {"--seed", sample.seed},
            {"--particles", sample.particles},
            {"--weights", sample.weights},
            {"--change", flags.change},
            {"--recipe", request.recipe}};
}

// Several examples; those that cannot be read are named and left out.
void complete_several(const CompleteFlags& flags, Work& work) {
    const CompleteBatchResult result =
        complete_batch_job(flags.request, flags.indices, work.control());
    write_result_file(result);
    work.finish_progress();
    print_result(to_json(result), flags.json);
}

int complete(CompleteFlags& flags, const Globals& globals) {
    if (flags.index)
        flags.indices = with_context("--index", [&] { return parse_picture_list(*flags.index); });
    check_origin(flags);
    const bool is_batch = flags.indices.size() > 1;
    if (!is_batch && !flags.indices.empty()) flags.request.index = flags.indices.front();
    CompleteRequest& request = flags.request;
    request.keep_rows = flags.keep_rows.value_or(-1);
    request.length = flags.length.value_or(request.length);
    const bool one_picture = !request.prompt && request.out.ends_with(".png");
    request.sample.samples = flags.samples.value_or(one_picture ? 1 : request.sample.samples);
    if (!flags.change.empty()) request.change = parse_change(flags.change);
    const Ranks ranks(flags.ranks, globals, same_on_all(flags));
    request.ranks = ranks.group();
    request.device = globals.device;
    if (!ranks.leads())
        return follow_job(ranks, [&](const JobControl& control) {
            if (is_batch)
                static_cast<void>(complete_batch_job(request, flags.indices, control));
            else
                static_cast<void>(complete_job(request, control));
        });
    Work work(ranks.globals());
    request.device = work.device();
    if (is_batch) {
        complete_several(flags, work);
        return 0;
    }
    const CompleteResult result = complete_job(flags.request, work.control());
    write_result_file(result);
    work.finish_progress();
    print_completions(result, flags);
    return 0;
}

void add_sampling(CLI::App& command, CompleteFlags& flags) {
    SampleOptions& sample = flags.request.sample;
    add_whole(command, {"--samples", "how many completions (4; 1 for one .png)", 1, 1024},
              flags.samples);
    add_real(command, {"--temperature", "0 is greedy"}, sample.temperature);
    add_whole(command, {"--top-k", "only the k likeliest values (0: all)"}, sample.top_k);
    add_real(command, {"--top-p", "only the likeliest values of this share (1: all)", 0, 1, true},
             sample.top_p);
    add_seed(command, "seed of the random numbers", sample.seed);
    add_whole(command, {"--particles", "particles of each sample's filter (1: none)", 1, 256},
              sample.particles);
    add_choice(command,
               {"--weights",
                "bf16, int8: faster, and says what it costs (aft-simple, -local, -full)",
                {"fp32", "bf16", "int8"}},
               sample.weights);
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<CompleteFlags>();
    CompleteRequest& request = flags->request;
    add_text(command, {"MODEL", "checkpoint or run folder", "FILE", true}, request.model);
    add_text(command, {"--image", "picture to complete", "FILE"}, request.image);
    add_data(command, "take the picture from a data source (default: the model's own)",
             request.data);
    add_text(command, {"--index", "which one of --data; several: 0-7,12", "LIST"}, flags->index);
    add_text(command, {"--mask", "picture of the model's size, non-zero = fill in", "FILE"},
             request.mask);
    add_whole(command, {"--keep-rows", "keep the upper N rows, fill in the rest"},
              flags->keep_rows);
    add_text(command, {"--prompt", "text to continue (\"\": from nothing)", "TEXT"},
             request.prompt);
    add_whole(command, {"--length", "bytes of text to add", 1, 1 << 20}, flags->length);
    add_sampling(command, *flags);
    add_text(command,
             {"--change", "another value in a sample, from which it is drawn anew",
              "SAMPLE:POSITION=LEVEL"},
             flags->change);
    add_text(command, {"-o,--out", "folder, or one .png; text: a file", "PATH"}, request.out);
    add_text(command,
             {"--recipe", "interventions on the model (afterimage list interventions)", "FILE"},
             request.recipe);
    add_switch(command, "--json", "print one JSON object, with the log-likelihoods", flags->json);
    add_rank_flags(command, flags->ranks);
    return [flags](const Globals& globals) { return complete(*flags, globals); };
}

}  // namespace

CommandRoom complete_command() {
    return {.info = {"complete", "Fills in the masked part of a picture, or continues a text."},
            .example =
                "afterimage complete runs/mirror --data 'mirror?split=test' --keep-rows 8 "
                "--samples 4 -o out",
            .setup = setup};
}

}  // namespace aft::app
