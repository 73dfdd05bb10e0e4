#include "app/cli/results_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "core/json.h"
#include "model/jobs.h"

namespace aft::app {

namespace {

using nlohmann::json;

json sample_json(const CompletedSample& sample, size_t index) {
    json out{{"index", index},
             {"log_likelihood", sample.log_likelihood_nats},
             {"bits_per_filled", sample.bits_per_filled}};
    if (!sample.file.empty()) out["file"] = sample.file;
    if (sample.text) out["text"] = *sample.text;
    return out;
}

json baselines_json(const Baselines& baselines) {
    return {{"unigram", baselines.unigram},
            {"left_neighbour", baselines.left_neighbour},
            {"previous_sub_pixel", baselines.previous_sub_pixel},
            {"median_edge_detector", baselines.median_edge}};
}

json metrics_json(const std::map<std::string, double>& metrics) {
    return metrics.empty() ? json() : json(metrics);
}

json classes_json(const EvalClasses& classes) {
    json of_classes = json::array();
    for (int64_t label = 0; label < classes.count; ++label) {
        json one{{"label", label},
                 {"examples", classes.examples_of(label)},
                 {"accuracy", classes.accuracy_of(label)}};
        if (label < static_cast<int64_t>(classes.names.size()))
            one["name"] = classes.names[static_cast<size_t>(label)];
        of_classes.push_back(std::move(one));
    }
    return {{"top5_accuracy", classes.top5}, {"classes", std::move(of_classes)}};
}

json run_json(const SweepResult& result, const SweepRun& run) {
    json out{{"point", result.plan.points[run.point].name},
             {"seed", run.seed},
             {"folder", run.folder},
             {"seconds", run.seconds},
             {"step", run.step}};
    if (run.state == SweepState::done)
        out.update({{"state", "done"},
                    {"train_loss", run.train_loss},
                    {"loss_nats", run.loss_nats},
                    {result.metric, run.metric_value},
                    {"examples", run.examples},
                    {"parameters", run.parameters}});
    else
        out["state"] = run.state == SweepState::failed ? "failed" : "open";
    if (!run.error.empty()) out["error"] = run.error;
    return out;
}

json change_json(const EvalChange& change, const std::string& metric) {
    return {{"untouched_loss_nats", change.untouched_loss_nats},
            {"untouched_" + metric, change.untouched_metric},
            {metric + "_change", change.metric.mean},
            {metric + "_change_standard_error", change.metric.standard_error},
            {metric + "_change_half_width_95", change.metric.half_width_95()},
            {"examples", change.metric.count}};
}

}  // namespace

json to_json(const CompleteResult& result) {
    const SampleOptions& options = result.sample;
    json out{{"model", result.model},
             {"step", result.step},
             {"seed", options.seed},
             {"temperature", options.temperature},
             {"top_k", options.top_k},
             {"top_p", options.top_p},
             {"particles", options.particles},
             {"weights", options.weights},
             {"tokens", result.tokens},
             {"filled", result.filled},
             {"seconds", result.seconds},
             {"samples", json::array()},
             {"log_likelihoods", json::array()}};
    for (const CompletedSample& sample : result.samples) {
        out["samples"].push_back(sample_json(sample, out["samples"].size()));
        out["log_likelihoods"].push_back(sample.log_likelihood_nats);
    }
    if (!result.note.empty()) out["note"] = result.note;
    if (result.original_log_likelihood_nats)
        out["original_log_likelihood"] = *result.original_log_likelihood_nats;
    if (result.weights_cost_bits_per_dim)
        out["weights_cost_bits_per_dim"] = *result.weights_cost_bits_per_dim;
    if (result.changed) out["changed"] = *result.changed;
    if (!result.grid.empty()) out["grid"] = result.grid;
    if (!result.file.empty()) out["file"] = result.file;
    return out;
}

json to_json(const CompleteBatchResult& result) {
    json out{{"pictures", json::array()}, {"grid", result.grid}};
    for (const CompletedExample& picture : result.pictures) {
        json one = picture.error.empty() ? to_json(picture.result) : json{{"error", picture.error}};
        one["index"] = picture.index;
        out["pictures"].push_back(std::move(one));
    }
    return out;
}

json to_json(const EvalResult& result) {
    json out{{"model", result.model},
             {"data", result.data},
             {"step", result.step},
             {"task", result.task},
             {"split", result.split},
             {"loss_nats", result.loss_nats},
             {result.metric, result.metric_value},
             {"tokens", result.tokens},
             {"examples", result.examples}};
    if (result.floor_bits) {
        out["floor_bits_per_dim"] = *result.floor_bits;
        out["floor_note"] = result.floor_note;
    }
    if (result.baselines) out["yardsticks_bits_per_dim"] = baselines_json(*result.baselines);
    if (!result.note.empty()) out["note"] = result.note;
    if (result.metric_error) out[result.metric + "_standard_error"] = *result.metric_error;
    if (result.change) out["recipe"] = change_json(*result.change, result.metric);
    if (result.perplexity) out["perplexity"] = *result.perplexity;
    if (result.classes) out.update(classes_json(*result.classes));
    out.update({{"parameters", result.cost.parameters},
                {"seconds", result.cost.seconds},
                {"peak_memory_bytes", result.cost.peak_memory_bytes},
                {"device", result.cost.device},
                {"seed", result.cost.seed},
                {"version", version()}});
    if (result.cost.flops_per_example) out["flops_per_example"] = *result.cost.flops_per_example;
    return out;
}

json to_short_json(const EvalResult& result) {
    json out = to_json(result);
    if (!out.contains("classes")) return out;
    json seen = json::array();
    for (const json& one : out["classes"])
        if (one.at("examples") != 0) seen.push_back(one);
    const size_t missing = out["classes"].size() - seen.size();
    if (missing > 0) out["classes_without_examples"] = missing;
    out["classes"] = std::move(seen);
    return out;
}

json to_json(const ExportResult& result) {
    json out{{"file", result.file},
             {"bytes", result.bytes},
             {"parameters", result.parameters},
             {"dtype", result.dtype}};
    if (!result.constructor.empty()) out["constructor"] = result.constructor;
    for (const NamedReason& row : result.left_out)
        out["left_out"].push_back({{"name", row.name}, {"why", row.why}, {"shape", row.shape}});
    return out;
}

json to_json(const ImportResult& result) {
    json out{{"file", result.file},
             {"importer", result.importer},
             {"prefix", result.prefix},
             {"model", result.out.empty() ? json(nullptr) : json(result.out)},
             {"parameters", result.parameters},
             {"notes", result.notes},
             {"not_finite", result.not_finite},
             {"mapped", json::array()},
             {"dropped", json::array()},
             {"new", json::array()}};
    for (const ImportedTensor& row : result.mapped)
        out["mapped"].push_back(
            {{"from", row.from}, {"to", row.to}, {"shape", row.shape}, {"how", row.how}});
    for (const auto& [key, rows] :
         {std::pair{"dropped", &result.dropped}, std::pair{"new", &result.fresh}})
        for (const NamedReason& row : *rows)
            out[key].push_back({{"name", row.name}, {"shape", row.shape}, {"why", row.why}});
    return out;
}

// The limits of tensors are for people: they are not in it.
json to_json(const InspectResult& result) {
    json out{
        {"name", result.config.name},      {"task", result.config.model.task},
        {"parameters", result.parameters}, {"parameters_per_layer", result.parameters_per_layer},
        {"tokens", result.tokens},         {"tensors", json::array()},
        {"bias", json::array()},           {"config", config_to_json(result.config)}};
    for (const TensorSummary& tensor : result.tensors)
        out["tensors"].push_back(
            {{"name", tensor.name}, {"shape", tensor.shape}, {"dtype", tensor.dtype}});
    for (const BiasSummary& bias : result.bias)
        out["bias"].push_back({{"layer", bias.layer},
                               {"head", bias.head},
                               {"min", bias.min},
                               {"max", bias.max},
                               {"mean", bias.mean},
                               {"norm", bias.norm},
                               {"hidden", bias.hidden}});
    for (const MapSummary& map : result.maps)
        out["maps"].push_back(
            {{"name", map.name}, {"layout", map.layout}, {"grid", map.grid}, {"gauge", map.gauge}});
    if (!result.not_finite.empty()) out["not_finite"] = result.not_finite;
    if (!result.stored) return out;
    out["model"] = result.stored->file;
    out["step"] = result.stored->step;
    out["metrics"] = metrics_json(result.stored->metrics);
    if (!result.stored->classes.empty()) out["classes"] = result.stored->classes;
    return out;
}

json to_json(const LogExportResult& result) {
    return {{"run", result.run},
            {"file", result.file},
            {"rows", result.rows},
            {"metrics", result.metrics},
            {"first_step", result.first_step},
            {"last_step", result.last_step},
            {"bytes", result.bytes}};
}

json to_json(const OpResult& result) {
    json out{{"op", result.name},
             {"backend", result.backend},
             {"precision", result.precision},
             {"outputs", result.outputs},
             {"ignored", result.ignored},
             {"seconds", result.seconds},
             {"exact_blocks", result.exact_blocks}};
    if (!result.out.empty()) out["out"] = result.out;
    if (result.differences.empty()) return out;
    out["agrees"] = result.agrees();
    out["within"] = result.within;
    for (const OpDifference& one : result.differences)
        out["differences"].push_back({{"name", one.name},
                                      {"relative", one.relative},
                                      {"largest", one.largest},
                                      {"at", one.at},
                                      {"yours", one.theirs},
                                      {"ours", one.ours},
                                      {"yours_not_finite", one.not_finite}});
    return out;
}

json to_json(const PackResult& result) {
    json out = {{"data", result.data},
                {"index", result.index},
                {"classes", result.classes},
                {"parts", json::array()}};
    for (const PackedPart& part : result.parts)
        out["parts"].push_back({{"part", part.part},
                                {"pattern", part.pattern},
                                {"examples", part.examples},
                                {"shards", part.shards},
                                {"bytes", part.bytes}});
    return out;
}

json to_json(const ProbeResult& result) {
    json out{{"probe", result.probe}, {"model", result.model}, {"layer", result.layer},
             {"file", result.file},   {"field", result.field}, {"shape", result.shape},
             {"axes", result.axes},   {"unit", result.unit},   {"step", result.step},
             {"notes", result.notes}, {"version", version()}};
    if (!std::isnan(result.mean))
        out.update({{"min", result.min}, {"max", result.max}, {"mean", result.mean}});
    if (!result.input_note.empty()) out["input"] = result.input_note;
    return out;
}

json to_json(const RunResult& result) {
    return {{"out", result.out}, {"tensor", result.tensor}, {"shape", result.shape}};
}

json to_json(const SweepResult& result) {
    json out{{"name", result.plan.name},   {"out", result.out},
             {"metric", result.metric},    {"split", result.split},
             {"points", json::array()},    {"runs", json::array()},
             {"seeds", result.plan.seeds}, {"config", config_to_json(result.plan.base)},
             {"from", result.plan.from},   {"sentence", result.plan.sentence},
             {"paper", result.plan.paper}, {"version", version()}};
    for (size_t place = 0; place < result.summaries.size(); ++place) {
        const SweepPoint& point = result.plan.points[place];
        const SweepSummary& of = result.summaries[place];
        out["points"].push_back({{"name", point.name},
                                 {"settings", json(std::map<std::string, std::string>(
                                                  point.settings.begin(), point.settings.end()))},
                                 {"runs", of.n},
                                 {"mean", of.mean},
                                 {"deviation", of.deviation},
                                 {"standard_error", of.error},
                                 {"least", of.least},
                                 {"most", of.most},
                                 {"paper", point.paper}});
    }
    for (const SweepRun& run : result.runs) out["runs"].push_back(run_json(result, run));
    return out;
}

json to_json(const SystemReport& report) {
    return {
        {"program", report.program},
        {"libtorch", report.libtorch},
        {"libtorch_folder", report.libtorch_folder},
        {"device", report.device},
        {"cuda_devices", report.cuda_devices},
        {"cpu", report.cpu},
        {"cpu_capability", report.cpu_capability},
        {"cores", report.cores},
        {"threads", report.threads},
        {"omp_wait_policy", report.omp_wait_policy},
        {"gomp_spincount", report.gomp_spincount},
        {"memory_bytes", report.memory_bytes},
        {"memory_total_bytes", report.memory_total_bytes},
        {"memory_available_bytes", report.memory_available_bytes},
        {"exact_blocks", report.exact_blocks},
    };
}

json to_json(const TrainResult& result) {
    return {{"run", result.run},
            {"checkpoint", result.checkpoint},
            {"step", result.step},
            {"steps_done", result.steps_done},
            {"metrics", metrics_json(result.metrics)},
            {"peak_memory_bytes", result.peak_memory_bytes},
            {"seconds", result.seconds},
            {"ranks", result.ranks},
            {"stop_reason", result.stop_reason},
            {"interrupted", result.interrupted}};
}

void write_result_file(const CompleteResult& result) {
    if (result.grid.empty()) return;
    write_atomically(fs::path(result.grid).replace_filename("result.json"),
                     json_text(to_json(result), 2) + "\n");
}

void write_result_file(const CompleteBatchResult& result) {
    for (const CompletedExample& picture : result.pictures)
        if (picture.error.empty()) write_result_file(picture.result);
    write_atomically(fs::path(result.grid).replace_filename("result.json"),
                     json_text(to_json(result), 2) + "\n");
}

void write_result_file(const ProbeResult& result) {
    write_atomically(result.file + ".json", json_text(to_json(result), 2) + "\n");
}

}  // namespace aft::app
