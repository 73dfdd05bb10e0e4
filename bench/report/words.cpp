// The same tables for the terminal and for docs/performance.md.
#include <algorithm>
#include <functional>

#include "bench/bench.h"

namespace aft::bench {
namespace {

using nlohmann::json;
using Cells = std::vector<std::string>;

constexpr const char* kAbout = R"(# Performance

Written by `afterimage bench --markdown docs/performance.md`. Ours and the peers run in one process on
the same tensors, in turns; the error is against float64, taken before the times: the largest difference over
the largest value. "x limit" is the time over the larger of FLOP by the rate of matrix products in its
precision and bytes by the rate of copying from memory to memory, both of the same process; the ratio is of
medians, over ours in the same precision and none where we have no such form, in brackets the middle half of
the rounds. A decoder's limit is the bytes of its weights by the rate at which this process reads that much
memory. Attention computes another function; its error is against its own float64. No ratio is given when a
rate that the row rests on (matrix products, and copying where bytes are its limit; reading the weights for a
decoder) moved by more than 15 % meanwhile; a disturbed row is measured again, twice at most. Ratios do not
carry to other machines. Ours has float32 operands where nothing else is said.

)";

std::string error_words(const json& error) {
    return error.is_number() ? fmt::format("{:.1e}", error.get<double>())
                             : error.get<std::string>();
}

// In place of a ratio that others have disturbed.
constexpr const char* kContendedRatio = "- CONTENDED";

double real(const json& object, const char* key) {
    return object.at(key).get<double>();
}

// What a column says of a contestant; empty where it says nothing.
struct ReportColumn {
    std::string head;
    std::function<std::string(const json& one)> cell;
};

ReportColumn text(const char* head, const char* key) {
    return {head, [key](const json& one) { return one[key].get<std::string>(); }};
}

ReportColumn error(const char* head, const char* key) {
    return {head, [key](const json& one) {
                return one.contains(key) ? error_words(one[key]) : std::string();
            }};
}

ReportColumn figure(const std::string& head, const std::string& key, int decimals,
                    double scale = 1) {
    return {head, [key, decimals, scale](const json& one) -> std::string {
                if (!one.contains(key)) return "";
                if (!one[key].is_number()) return "unknown";
                return fmt::format("{:.{}f}", one[key].get<double>() * scale, decimals);
            }};
}

ReportColumn ratio(const char* head) {
    return {head, [](const json& one) -> std::string {
                if (!one.contains("ratio")) return "";
                if (one.value("contended", false)) return kContendedRatio;
                return fmt::format("{:.2f} ({:.2f} to {:.2f})", real(one, "ratio"),
                                   real(one, "ratio_low"), real(one, "ratio_high"));
            }};
}

ReportColumn over(const char* head) {
    return {head, [](const json& one) {
                return one.contains("over") ? one["over"].get<std::string>() : std::string();
            }};
}

ReportColumn at_length(const json& length) {
    return {fmt::format("T={}", length.get<int64_t>()), [length](const json& one) -> std::string {
                for (const json& point : one["points"]) {
                    if (point["length"] != length) continue;
                    if (point.contains("skipped")) return point["skipped"];
                    const json& peak = point["peak_bytes"];
                    return fmt::format("{:.2f} / {}", real(point, "median_ms"),
                                       peak.is_number()
                                           ? fmt::format("{:.0f}", peak.get<double>() * 1e-6)
                                           : "unknown");
                }
                return "";
            }};
}

std::vector<ReportColumn> growth_columns(const json& row) {
    std::vector<ReportColumn> columns{text("form, ms / MB above the inputs", "name"),
                                      error("error", "error")};
    for (const json& length : row["lengths"]) columns.push_back(at_length(length));
    return columns;
}

std::vector<ReportColumn> columns_of(const json& row) {
    const std::string kind = row["kind"];
    if (kind == "race")
        return {text("form", "name"),
                text("precision", "precision"),
                error("error", "error"),
                figure("least ms", "least_ms", 2),
                figure("median ms", "median_ms", 2),
                figure("x limit", "x_limit", 2),
                ratio("its time over ours in its precision"),
                figure("rounds", "rounds", 0)};
    if (kind == "decode")
        return {text("form", "name"),
                text("weights", "precision"),
                error("error of the logits", "error"),
                figure("least us a step", "least_us", 0),
                figure("median us a step", "median_us", 0),
                figure("limit us", "limit_us", 0),
                figure("x limit", "x_limit", 2),
                figure("tokens/s", "tokens_per_second", 0),
                ratio("its time over"),
                over("that of"),
                figure("rounds", "rounds", 0)};
    if (kind == "train")
        return {text("net", "name"),
                figure("million parameters", "parameters", 2, 1e-6),
                figure("first loss, nats", "loss", 3),
                error("its error", "error"),
                error("error of the gradients", "gradient_error"),
                figure("least ms", "least_ms", 1),
                figure("median ms", "median_ms", 1),
                ratio("its time over ours"),
                figure("rounds", "rounds", 0)};
    if (kind == "infer")
        return {text("net", "name"),
                figure("million parameters", "parameters", 2, 1e-6),
                error("error of the logits", "error"),
                figure("least ms", "least_ms", 1),
                figure("median ms", "median_ms", 1),
                figure("pictures/s", "examples_per_second", 1),
                ratio("its time over ours"),
                figure("rounds", "rounds", 0)};
    if (kind == "image")
        return {text("form", "name"),
                text("weights", "precision"),
                figure("least s", "least_s", 2),
                figure("median s", "median_s", 2),
                ratio("its time over the first"),
                figure("rounds", "rounds", 0)};
    if (kind == "accuracy")
        return {text("form", "name"), error("error of Y", "error"),
                error("error of the gradients", "gradient_error")};
    if (kind == "growth") return growth_columns(row);
    if (kind == "program")
        return {text("what", "name"), figure("least", "least", 2), figure("median", "median", 2),
                text("unit", "unit"), figure("rounds", "rounds", 0)};
    return {text("form", "name"), figure("peak above the inputs, MB", "peak_bytes", 1, 1e-6)};
}

std::vector<Cells> table_of(const json& row) {
    const std::vector<ReportColumn> columns = columns_of(row);
    std::vector<Cells> table(1);
    for (const ReportColumn& column : columns) table[0].push_back(column.head);
    for (json one : row["contestants"]) {
        one["contended"] = row.value("contended", false);
        table.emplace_back();
        for (const ReportColumn& column : columns) table.back().push_back(column.cell(one));
    }
    return table;
}

std::string drawn(const std::vector<Cells>& table, bool as_markdown) {
    std::vector<std::size_t> widths(table[0].size(), 3);
    for (const Cells& cells : table)
        for (std::size_t i = 0; i < cells.size(); ++i)
            widths[i] = std::max(widths[i], cells[i].size());
    std::string out;
    for (std::size_t line = 0; line < table.size(); ++line) {
        out += as_markdown ? "|" : "  ";
        for (std::size_t i = 0; i < widths.size(); ++i)
            out += fmt::format(fmt::runtime(as_markdown ? " {:<{}} |" : "{:<{}}  "), table[line][i],
                               widths[i]);
        while (!as_markdown && out.back() == ' ') out.pop_back();
        out += "\n";
        if (!as_markdown || line > 0) continue;
        out += "|";
        for (const std::size_t width : widths) out += std::string(width + 2, '-') + "|";
        out += "\n";
    }
    return out;
}

std::string pair_words(const json& row, const char* key, const char* unit) {
    return fmt::format("{:.0f} then {:.0f} {}", real(row["rates_before"], key),
                       real(row["rates_after"], key), unit);
}

std::string limit_words(const json& row) {
    std::string out =
        fmt::format("limit {:.2f} ms by {} ({:.2f} GFLOP, {:.1f} MB); ", real(row, "limit_ms"),
                    row["limit_by"].get<std::string>(), real(row, "gflop"), real(row, "megabytes"));
    for (const json& one : row["contestants"])
        if (one["ours"] && one["precision"] == "bf16")
            out += fmt::format("in bf16 {:.2f} ms; ", real(row, "half_limit_ms"));
    if (row["limit_by"] == "bytes" && row["in_cache"].get<bool>())
        out += "they would fit the last-level cache, the limit is that of memory; ";
    return out;
}

std::string others_words(const json& row) {
    const double others = real(row, "others");
    std::string out =
        others < 0 ? "others: unknown" : fmt::format("others took {:.0f} %", 100 * others);
    if (row["contended"]) out += " (CONTENDED: the figures are not to be trusted)";
    return out;
}

std::string reads_words(const json& row) {
    std::string out;
    if (!row.contains("reads")) return out;
    for (const json& one : row["reads"])
        out += fmt::format("{}{:.0f} then {:.0f} GB/s {}", out.empty() ? "weights read at " : ", ",
                           real(one, "before"), real(one, "after"),
                           one["precision"].get<std::string>());
    return out + "; ";
}

std::string conditions_words(const json& row) {
    std::string out =
        fmt::format("matrix products {} fp32, {} bf16; copy {}; cache read {}; ",
                    pair_words(row, "gemm_fp32_gflops", "GFLOP/s"),
                    pair_words(row, "gemm_bf16_gflops", "GFLOP/s"),
                    pair_words(row, "copy_gbs", "GB/s"), pair_words(row, "cache_read_gbs", "GB/s"));
    out += reads_words(row) + others_words(row);
    if (const auto repeats = row["repeats"].get<int64_t>(); repeats > 0)
        out += fmt::format("; disturbed and measured again {}", repeats == 1 ? "once" : "twice");
    if (row["has_ratios"]) return out;
    return out + (row["drift"].is_number()
                      ? fmt::format("; NO RATIO: the rates that it rests on drifted by {:.0f} %",
                                    100 * real(row, "drift"))
                      : "; NO RATIO: the calibration failed");
}

std::string best_words(const json& row) {
    std::string out;
    if (!row.contains("best")) return out;
    for (const json& best : row["best"])
        out += fmt::format("; best peer in {}: {} ({})", best["precision"].get<std::string>(),
                           best["name"].get<std::string>(),
                           row.value("contended", false)
                               ? kContendedRatio
                               : fmt::format("{:.2f}x", real(best, "ratio")));
    return out;
}

std::string above_table(const json& row) {
    std::string out = row.contains("note") ? row["note"].get<std::string>() : "";
    if (row["kind"] == "race") out += limit_words(row);
    if (row.contains("rates_before")) return out + conditions_words(row) + best_words(row);
    if (row.contains("others")) out += (out.empty() ? "" : "; ") + others_words(row);
    return out;
}

std::string row_words(const json& row, bool as_markdown) {
    const std::string name = row["case"], above = above_table(row);
    std::string out = as_markdown ? "\n**" + name + "**" : "\n  " + name;
    if (!above.empty()) out += (as_markdown ? "\n\n" : "\n  ") + above;
    out += "\n";
    if (!row["contestants"].empty())
        out += std::string(as_markdown ? "\n" : "") + drawn(table_of(row), as_markdown);
    std::string accept;
    for (const json& one : row["accept"])
        accept += fmt::format("{}{}: {}", accept.empty() ? "" : "; ",
                              one["words"].get<std::string>(), one["state"].get<std::string>());
    if (!accept.empty()) out += (as_markdown ? "\nAccept: " : "  accept: ") + accept + "\n";
    return out;
}

// How threads wait for work changes what a short loop takes.
std::string waiting_words(const json& machine) {
    const auto setting = [&](const char* name, const char* key) {
        const auto value = machine.value(key, "");
        return fmt::format("{} {}", name, value.empty() ? "not set" : value);
    };
    return setting("OMP_WAIT_POLICY", "omp_wait_policy") + ", " +
           setting("GOMP_SPINCOUNT", "gomp_spincount");
}

std::string machine_words(const json& result) {
    const json& machine = result["machine"];
    return fmt::format("{} on {}, {} cores, {} threads, {}, {}, LibTorch {}, {}; {} rounds{}",
                       machine["program"].get<std::string>(), machine["cpu"].get<std::string>(),
                       machine["cores"].get<int64_t>(), machine["threads"].get<int64_t>(),
                       waiting_words(machine), machine["cpu_capability"].get<std::string>(),
                       machine["libtorch"].get<std::string>(), result["date"].get<std::string>(),
                       result["rounds"].get<int64_t>(),
                       result["quick"].get<bool>() ? ", tiny shapes: the times mean nothing" : "");
}

std::string end_words(const json& result) {
    std::string out;
    if (result["failed"] > 0)
        out += fmt::format("\nRows that failed: {}.\n", result["failed"].get<int64_t>());
    if (result["stopped"]) out += "\nStopped before the end: the rest was not measured.\n";
    return out;
}

}  // namespace

std::string words(const json& result) {
    std::string out = machine_words(result) + "\n";
    for (const json& one : result["workloads"]) {
        out += "\n" + one["name"].get<std::string>() + ": " + one["sentence"].get<std::string>() +
               "\n";
        for (const json& row : one["rows"]) out += row_words(row, false);
    }
    return out + end_words(result);
}

std::string markdown(const json& result) {
    std::string out = kAbout;
    out += machine_words(result) + ".\n";
    for (const json& one : result["workloads"]) {
        out += "\n## " + one["name"].get<std::string>() + "\n\n" +
               one["sentence"].get<std::string>() + ".\n";
        for (const json& row : one["rows"]) out += row_words(row, true);
    }
    return out + end_words(result);
}

}  // namespace aft::bench
