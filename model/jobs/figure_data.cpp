#include "model/jobs/figure_data.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/files.h"
#include "core/outside.h"
#include "model/checkpoints/naming.h"
#include "model/checkpoints/run_paths.h"
#include "model/decode/decode.h"
#include "model/decode/input.h"
#include "model/decode/picture.h"
#include "model/device.h"
#include "model/jobs/summary.h"
#include "model/model_files.h"
#include "model/probe/probe.h"

namespace aft {

namespace {

void check_count(int64_t count) {
    if (count < 1 || count > 4096) fail_usage("--limit: found {}, allowed: 1 to 4096", count);
}

std::string inputs_note(const std::string& data, const ChosenExamples& chosen) {
    const int64_t first = chosen.index(0);
    if (chosen.count == 1) return fmt::format("{}, example {}", data, first);
    if (chosen.first < 0)
        return fmt::format("{}, {} of {} examples, spread evenly", data, chosen.count, chosen.size);
    return fmt::format("{}, examples {} to {}", data, first, first + chosen.count - 1);
}

ProbeRequest request_of(const LayerProbes& asked, std::vector<uint8_t> tokens) {
    ProbeRequest request;
    request.probe = asked.probe;
    request.head = asked.head;
    request.options = asked.options;
    request.tokens = std::move(tokens);
    return request;
}

CompletionRequest completion_of(const PictureCompletions& asked, const ModelConfig& model,
                                std::vector<uint8_t> tokens) {
    CompletionRequest request;
    request.tokens = std::move(tokens);
    request.unknown.assign(request.tokens.size(), 1);
    std::fill_n(request.unknown.begin(), asked.keep_rows * model.width * model.channels,
                uint8_t{0});
    request.sample = asked.sample;
    return request;
}

}  // namespace

ModelFacts model_facts(const std::string& path) {
    const Checkpoint checkpoint = read_checkpoint_header(path);
    const ModelConfig& model = checkpoint.config.model;
    ModelFacts facts;
    facts.path = path;
    facts.name = shown_name(path);
    facts.data = checkpoint.config.data.source;
    facts.step = checkpoint.step;
    facts.layers = model.layers;
    facts.tokens = model.tokens();
    facts.dim = model.dim;
    facts.grid_height = model.grid_height();
    facts.grid_width = model.grid_width();
    facts.height = model.height;
    facts.mixer = mixer_traits(model);
    facts.task = task_traits(model);
    if (facts.task.tokens == TokenKind::values) facts.channels = model.channels;
    facts.prefix_tokens = model.prefix_tokens();
    facts.has_start_token = facts.task.is_autoregressive && model.start_token;
    facts.is_causal = model.causal();
    return facts;
}

LayerFields probe_layers(const LayerProbes& asked, const JobControl& control) {
    const ProbeRoom& room = find_room(probes(), asked.probe, "probe");
    check_count(asked.count);
    const Checkpoint checkpoint = read_checkpoint(asked.model);
    if (room.needs != ProbeNeeds::biases) check_whole(checkpoint, "probe " + room.info.name);
    const Net net = make_net(checkpoint, parse_device(asked.device));
    const bool takes_input = room.needs == ProbeNeeds::input;
    const auto examples =
        takes_input ? std::make_unique<ExampleReader>(checkpoint, asked.data, control.stop)
                    : std::unique_ptr<ExampleReader>();
    int64_t inputs = takes_input ? asked.count : 1;
    if (asked.is_at_most && examples)
        inputs =
            std::clamp<int64_t>(examples->size() - std::max<int64_t>(asked.index, 0), 1, inputs);
    const ChosenExamples chosen =
        examples ? examples->choose(asked.index, inputs) : ChosenExamples{};
    Activations kept;
    const ProbeContext context{net, checkpoint.step, control, kept};
    LayerFields out;
    out.count = inputs;
    std::vector<FieldMean> means(asked.layers.size());
    const auto layers = static_cast<int64_t>(asked.layers.size());
    for (int64_t i = 0; i < inputs; ++i) {
        const InputTokens input = examples ? examples->at(chosen.index(i)) : InputTokens{};
        if (takes_input && !task_traits(checkpoint.config.model).is_text() && i < 64)
            out.inputs.push_back(tokens_picture(input.tokens, checkpoint.config.model));
        ProbeRequest request = request_of(asked, input.tokens);
        for (size_t n = 0; n < asked.layers.size(); ++n) {
            if (control.stop.stop_requested()) throw Interrupted();
            control.report({.done = i * layers + static_cast<int64_t>(n),
                            .total = inputs * layers,
                            .what = "layers"});
            request.layer = asked.layers[n];
            FieldSet set =
                naming_model(checkpoint.path, [&] { return run_probe(context, request); });
            means[n].add(std::move(set.fields.front()));
        }
    }
    for (FieldMean& mean : means) out.layers.push_back(std::move(mean).mean());
    if (takes_input) out.input_note = inputs_note(asked.data, chosen);
    return out;
}

CompletedPictures complete_pictures(const PictureCompletions& asked, const JobControl& control) {
    const bool is_list = !asked.pictures.empty();
    const auto count = is_list ? static_cast<int64_t>(asked.pictures.size()) : asked.count;
    check_count(count);
    const Checkpoint checkpoint = read_checkpoint(asked.model);
    const ModelConfig& model = checkpoint.config.model;
    if (asked.keep_rows < 0 || asked.keep_rows >= model.height)
        fail_usage("--keep-rows: found {}, allowed: 0 to {}", asked.keep_rows, model.height - 1);
    const Net net = make_net(checkpoint, parse_device(asked.device));
    CompletedPictures out;
    out.hidden.assign(static_cast<size_t>(model.height * model.width), 1);
    std::fill_n(out.hidden.begin(), asked.keep_rows * model.width, uint8_t{0});
    const ExampleReader examples(checkpoint, asked.data, control.stop);
    const ChosenExamples chosen = is_list ? ChosenExamples{} : examples.choose(asked.index, count);
    for (int64_t i = 0; i < count; ++i) {
        control.report({.done = i, .total = count, .what = "pictures"});
        const InputTokens input =
            examples.at(is_list ? asked.pictures[static_cast<size_t>(i)] : chosen.index(i));
        const CompletionRequest request = completion_of(asked, model, input.tokens);
        JobControl quiet;
        quiet.stop = control.stop;
        const Completion done =
            naming_model(checkpoint.path, [&] { return run_completion(net, request, {}, quiet); });
        if (done.stopped) throw Interrupted();
        out.originals.push_back(tokens_picture(input.tokens, model));
        std::vector<Image> samples;
        for (const auto& sample : done.samples) samples.push_back(tokens_picture(sample, model));
        out.samples.push_back(std::move(samples));
    }
    out.input_note = is_list ? fmt::format("{}, {} chosen examples", asked.data, count)
                             : inputs_note(asked.data, chosen);
    return out;
}

RunCurves run_curves(const std::string& path) {
    if (!is_run_folder(path))
        fail("{}: is no run folder; curves are drawn of what training logs there (metrics.jsonl)",
             shown_path(path));
    const Config config = load_run_config(config_path(path).string());
    RunCurves out;
    out.path = path;
    out.name = shown_name(path);
    out.layers = config.model.layers;
    out.dim = config.model.dim;
    out.seed = config.train.seed;
    out.mixer = mixer_traits(config.model);
    out.task = task_traits(config.model);
    out.mixer_name = config.model.mixer;
    uint64_t offset = 0;
    while (read_rows(path, offset, out.curves)) {
    }
    return out;
}

}  // namespace aft
