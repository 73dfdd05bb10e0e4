// The JSON of what jobs answer: the one place where it is made, for --json, for the files beside
// what a job writes, and for the system report. Keys are sorted; NaN becomes null. Pure but for
// write_result_file. Any thread.
#pragma once
#include <nlohmann/json_fwd.hpp>

namespace aft {
struct CompareResult;
struct CompleteBatchResult;
struct CompleteResult;
struct CostResult;
struct EvalResult;
struct ExportResult;
struct ImportResult;
struct InspectResult;
struct LogExportResult;
struct OpResult;
struct PackResult;
struct ProbeResult;
struct RunResult;
struct SweepResult;
struct SystemReport;
struct TrainResult;
}  // namespace aft

namespace aft::app {

[[nodiscard]] nlohmann::json to_json(const CompareResult& result);
[[nodiscard]] nlohmann::json to_json(const CompleteResult& result);
[[nodiscard]] nlohmann::json to_json(const CompleteBatchResult& result);
[[nodiscard]] nlohmann::json to_json(const CostResult& result);
[[nodiscard]] nlohmann::json to_json(const EvalResult& result);
// The same for people: without the classes of which there were no examples, but with their number.
[[nodiscard]] nlohmann::json to_short_json(const EvalResult& result);
[[nodiscard]] nlohmann::json to_json(const ExportResult& result);
[[nodiscard]] nlohmann::json to_json(const ImportResult& result);
[[nodiscard]] nlohmann::json to_json(const InspectResult& result);
[[nodiscard]] nlohmann::json to_json(const LogExportResult& result);
[[nodiscard]] nlohmann::json to_json(const OpResult& result);
[[nodiscard]] nlohmann::json to_json(const PackResult& result);
[[nodiscard]] nlohmann::json to_json(const ProbeResult& result);
[[nodiscard]] nlohmann::json to_json(const RunResult& result);
[[nodiscard]] nlohmann::json to_json(const SweepResult& result);
[[nodiscard]] nlohmann::json to_json(const SystemReport& report);
[[nodiscard]] nlohmann::json to_json(const TrainResult& result);

// result.json beside the grid of pictures; nothing where there is no grid.
void write_result_file(const CompleteResult& result);
void write_result_file(const CompleteBatchResult& result);  // and one in every picture's folder
// FILE.json beside the file of the probe.
void write_result_file(const ProbeResult& result);

}  // namespace aft::app
