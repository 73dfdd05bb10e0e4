// The benchmark in a process of its own, and what others need of its rows.
#include "bench/bench.h"
#include "bench/timing/child.h"
#include "bench/workloads/own_model.h"
#include "core/check.h"
#include "core/json.h"
#include "model/checkpoints/checkpoint.h"

namespace aft::bench {
namespace {

using nlohmann::json;

json result_of_child(const BenchRequest& request, const std::stop_token& stop) {
    std::vector<std::string> words{"bench",       "--json",   "--model",
                                   request.model, "--rounds", std::to_string(request.rounds)};
    if (request.quick) words.emplace_back("--quick");
    words.push_back(request.filter);
    Child child({.program = request.program,
                 .words = std::move(words),
                 .variables = {},
                 .keeps_output = true});
    return parse_json(child.wait_for_output(stop), {.file = "bench"});
}

TimedForm form_of(const json& one) {
    const bool in_ms = one.contains("median_ms");
    TimedForm form{
        .name = one["name"],
        .precision = one["precision"],
        .is_ours = one["ours"],
        .median_ms = in_ms ? one["median_ms"].get<double>() : one["median_us"].get<double>() / 1e3};
    if (!one.contains("ratio")) return form;
    form.ratio = one["ratio"];
    form.ratio_low = one["ratio_low"];
    form.ratio_high = one["ratio_high"];
    return form;
}

TimedRow row_of(const json& one) {
    TimedRow row{.name = one["case"], .note = one.value("note", ""), .forms = {}};
    if (one.contains("others") && one["others"].is_number()) row.others = one["others"];
    row.is_contended = one.value("contended", false);
    for (const json& form : one["contestants"]) row.forms.push_back(form_of(form));
    return row;
}

}  // namespace

std::vector<RoomInfo> own_workload_list(const std::string& model) {
    std::vector<RoomInfo> list;
    for (const OwnWorkload& one : own_workloads(read_checkpoint_header(model).config))
        list.push_back(one.info);
    return list;
}

std::vector<TimedRow> run_apart(const BenchRequest& request, const std::stop_token& stop) {
    const json result =
        request.program.empty() ? run(request, {.stop = stop}) : result_of_child(request, stop);
    std::vector<TimedRow> rows;
    for (const json& workload : result["workloads"])
        for (const json& row : workload["rows"]) rows.push_back(row_of(row));
    if (rows.empty()) throw Interrupted();
    return rows;
}

}  // namespace aft::bench
