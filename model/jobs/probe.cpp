#include "model/jobs/probe.h"

#include <algorithm>
#include <cmath>

#include "core/figure/scene.h"
#include "core/files.h"
#include "core/outside.h"
#include "core/writers.h"
#include "model/decode/input.h"
#include "model/device.h"
#include "model/interventions/recipe_file.h"
#include "model/jobs/probe_moments.h"
#include "model/jobs/probe_picture.h"
#include "model/jobs/summary.h"
#include "model/probe/masks.h"
#include "model/probe/probe.h"
#include "model/traits.h"

namespace aft {

namespace {

bool is_picture(const std::string& path) {
    const std::string kind = fs::path(path).extension().string();
    return kind == ".png" || kind == ".svg";
}

void check_out(const std::string& path) {
    const std::string kind = fs::path(path).extension().string();
    if (kind != ".npy" && kind != ".csv" && !is_picture(path))
        fail_usage("-o '{}': the name must end in .npy, .csv, .png or .svg", path);
    check_writable(path);
}

ProbeRequest to_request(const ProbeJob& job, std::vector<uint8_t> tokens) {
    ProbeRequest request;
    request.probe = job.probe;
    request.layer = job.layer;
    request.head = job.head;
    request.channel = job.channel;
    request.position = job.position;
    request.options = job.options;
    request.tokens = std::move(tokens);
    return request;
}

ProbeResult describe(const Field& field) {
    double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
    int64_t count = 0;
    for (const float v : field.values) {
        if (!std::isfinite(v)) continue;
        low = std::min<double>(low, v);
        high = std::max<double>(high, v);
        sum += v;
        ++count;
    }
    ProbeResult out;
    out.field = field.name;
    out.unit = field.unit;
    out.shape = field.shape;
    out.axes = field.axes;
    out.step = field.step;
    out.notes = field.notes;
    if (count == 0) return out;
    out.min = low;
    out.max = high;
    out.mean = sum / static_cast<double>(count);
    return out;
}

void check_limit(const ProbeJob& job, const ProbeRoom& room) {
    if (job.limit < 1 || job.limit > 4096)
        fail_usage("--limit: found {}, allowed: 1 to 4096", job.limit);
    if (job.limit == 1) return;
    if (!room.averages_inputs) {
        std::string known;
        for (const ProbeRoom& one : probes())
            if (one.averages_inputs) known += (known.empty() ? "" : ", ") + one.info.name;
        fail_usage("--limit {}: probe {} shows one input; the mean over several: {}", job.limit,
                   room.info.name, known);
    }
    if (!job.image.empty() || !job.text.empty())
        fail_usage("--limit {}: it is of data, found {}", job.limit,
                   job.image.empty() ? "--text" : "--image");
}

// The second input of probes that take two; empty for the others.
InputTokens other_input(const ProbeJob& job, const ProbeRoom& room, const Checkpoint& checkpoint,
                        const std::stop_token& stop) {
    if (!room.takes_two) {
        if (job.other >= 0) fail_usage("--other: probe {} takes one input", room.info.name);
        return {};
    }
    if (!job.image.empty() || !job.text.empty() || job.other < 0)
        fail_usage("probe {} compares two inputs of data: --index and --other", room.info.name);
    return read_input(checkpoint, {"", "", job.data, job.other, stop});
}

// The second input stands behind the first.
void add_other(InputTokens& input, const InputTokens& second) {
    if (second.tokens.empty()) return;
    input.tokens.insert(input.tokens.end(), second.tokens.begin(), second.tokens.end());
    input.note += " | " + second.note;
}

// The main field, or its mean over several examples, of which `input` is the first.
Field main_field(const ProbeContext& context, const ProbeJob& job, const Checkpoint& checkpoint,
                 const InputTokens& input) {
    FieldMean mean;
    const auto examples =
        job.limit > 1 ? std::make_unique<ExampleReader>(checkpoint, job.data, context.control.stop)
                      : std::unique_ptr<ExampleReader>();
    const ChosenExamples chosen =
        examples ? examples->choose(job.is_row ? job.index : -1, job.limit) : ChosenExamples{};
    for (int64_t i = 0; i < job.limit; ++i) {
        const InputTokens other = i == 0 ? input : examples->at(chosen.index(i));
        if (job.limit > 1)
            context.control.report({.done = i, .total = job.limit, .what = "inputs"});
        mean.add(run_probe(context, to_request(job, other.tokens)).fields.front());
    }
    Field field = std::move(mean).mean();
    if (job.limit > 1) field.notes["inputs"] = std::to_string(job.limit);
    return field;
}

struct PictureParts {
    const ProbeRoom& room;
    const Checkpoint& checkpoint;
    const std::string& input_note;
};

FigureScene picture_of(const ProbeJob& job, const PictureParts& of, const Field& field,
                       const Field* marked) {
    const ModelConfig& model = of.checkpoint.config.model;
    const TaskTraits& task = task_traits(model);
    ProbePicture picture{.field = field, .marked = marked, .title = {}, .notes = {}};
    picture.rows_over_sources = of.room.folds_sources;
    if (of.room.folds_sources && !task.is_text()) {
        picture.fold_height = model.grid_height();
        picture.fold_width = model.grid_width();
        picture.sources_before = task.is_autoregressive ? 1 : model.prefix_tokens();
        picture.before_words = task.is_autoregressive
                                   ? (model.start_token ? "the start token" : "token 0")
                               : picture.sources_before == 1 ? "the class token"
                                                             : "class and distillation token";
    }
    if (task.tokens == TokenKind::values) picture.stretch = model.channels;
    picture.title = fmt::format("{}, layer {}", field.name, job.layer);
    if (const auto& layers = model.maps.layers; static_cast<size_t>(job.layer) < layers.size())
        picture.title += fmt::format(" ({})", layers[static_cast<size_t>(job.layer)].name);
    if (job.head >= 0) picture.title += fmt::format(", head {}", job.head);
    if (job.channel >= 0) picture.title += fmt::format(", channel {}", job.channel);
    picture.notes.push_back(fmt::format("Model {}: {}, step {}",
                                        printable_line(shown_name(job.model)),
                                        mixer_traits(model).words, of.checkpoint.step));
    if (!of.input_note.empty()) picture.notes.push_back("Input: " + printable_line(of.input_note));
    return probe_figure(picture);
}

void write_picture(const ProbeContext& context, const ProbeJob& job, const PictureParts& of,
                   const std::pair<Field, ProbeRequest>& shown) {
    const auto& options = of.room.options;
    const bool marks = std::any_of(options.begin(), options.end(),
                                   [](const ProbeOption& o) { return o.key == "visible"; });
    ProbeRequest request = shown.second;
    if (marks) request.options["visible"] = "nan";
    const FieldSet marked = marks ? run_probe(context, request) : FieldSet{};
    FigureScene scene = picture_of(job, of, shown.first, marks ? &marked.fields.front() : nullptr);
    scene.is_dark = job.theme == "dark";
    write_figure(job.out, scene, static_cast<int>(job.scale));
}

}  // namespace

std::vector<ProbeInfo> probe_list() {
    std::vector<ProbeInfo> list;
    for (const ProbeRoom& room : probes()) list.push_back({room.info, room.options});
    return list;
}

const ProbeOption* probe_option(std::string_view probe, std::string_view key) {
    const ProbeRoom* const room = room_named(probes(), probe);
    if (room == nullptr) return nullptr;
    const auto row = std::find_if(room->options.begin(), room->options.end(),
                                  [&](const ProbeOption& option) { return option.key == key; });
    return row == room->options.end() ? nullptr : &*row;
}

ProbeResult probe_job(const ProbeJob& job, const JobControl& control) {
    const ProbeRoom& room = find_room(probes(), job.probe, "probe");
    check_out(job.out);
    if (job.moments && is_picture(job.out))
        fail_usage("--moments writes numbers: -o '{}' must end in .npy or .csv", job.out);
    if (job.moments) check_moments(job.model);
    check_limit(job, room);
    const Checkpoint checkpoint = read_checkpoint(job.model);
    if (room.needs != ProbeNeeds::biases) check_whole(checkpoint, "probe " + room.info.name);
    InputTokens input =
        room.needs == ProbeNeeds::input
            ? read_input(checkpoint, {job.image, job.text, job.data, job.index, control.stop})
            : InputTokens{};
    add_other(input, other_input(job, room, checkpoint, control.stop));
    const auto net_of = [&](const Checkpoint& from) {
        Net net = make_net(from, parse_device(job.device));
        apply_recipe_file(net, job.recipe);
        return net;
    };
    const Net net = net_of(checkpoint);
    Activations kept;
    const ProbeContext context{net, checkpoint.step, control, kept};
    const std::function<Field(const Checkpoint&)> measure = [&](const Checkpoint& from) {
        const Net other = net_of(from);
        Activations fresh;
        return main_field({other, from.step, control, fresh}, job, from, input);
    };
    const Field field = job.moments ? probe_moments(job.model, checkpoint, room, {control, measure})
                                    : main_field(context, job, checkpoint, input);
    const std::string kind = fs::path(job.out).extension().string();
    if (kind == ".npy") write_npy(job.out, field);
    if (kind == ".csv") write_csv(job.out, field);
    if (is_picture(job.out))
        write_picture(context, job, {room, checkpoint, input.note},
                      {field, to_request(job, input.tokens)});
    ProbeResult result = describe(field);
    result.probe = job.probe;
    result.model = job.model;
    result.layer = job.layer;
    result.file = job.out;
    result.input_note = input.note;
    result.not_finite = probe::weight_faults(checkpoint.config.model, checkpoint.weights);
    return result;
}

}  // namespace aft
