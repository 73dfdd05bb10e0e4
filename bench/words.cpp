// The same tables for the terminal and for docs/performance.md.
#include <algorithm>

#include "bench/bench.h"

namespace aft::bench {
namespace {

using nlohmann::json;
using Cells = std::vector<std::string>;

std::string error_words(const json& error) {
    return error.is_number() ? fmt::format("{:.1e}", error.get<double>())
                             : error.get<std::string>();
}

double real(const json& object, const char* key) {
    return object.at(key).get<double>();
}

Cells race_cells(const json& one) {
    Cells cells{one["name"],
                one["precision"],
                error_words(one["error"]),
                fmt::format("{:.2f}", real(one, "least_ms")),
                fmt::format("{:.2f}", real(one, "median_ms")),
                "",
                "",
                fmt::format("{}", one["rounds"].get<int64_t>())};
    if (one.contains("x_limit")) cells[5] = fmt::format("{:.2f}", real(one, "x_limit"));
    if (one.contains("ratio"))
        cells[6] = fmt::format("{:.2f} ({:.2f} to {:.2f})", real(one, "ratio"),
                               real(one, "ratio_low"), real(one, "ratio_high"));
    return cells;
}

Cells decode_cells(const json& one) {
    return {one["name"],
            one["precision"],
            error_words(one["error"]),
            fmt::format("{:.0f}", real(one, "least_us")),
            fmt::format("{:.0f}", real(one, "median_us")),
            fmt::format("{:.0f}", real(one, "tokens_per_second")),
            fmt::format("{:.2f} ({:.2f} to {:.2f})", real(one, "over_first"), real(one, "low"),
                        real(one, "high"))};
}

std::vector<Cells> table_of(const json& row) {
    std::vector<Cells> table;
    if (row["kind"] == "race") {
        table.push_back({"form", "precision", "error", "least ms", "median ms", "x limit",
                         "its time over ours", "rounds"});
        for (const json& one : row["contestants"]) table.push_back(race_cells(one));
    } else if (row["kind"] == "decode") {
        table.push_back({"form", "weights", "error of the logits", "least us a step",
                         "median us a step", "tokens/s", "its time over the first"});
        for (const json& one : row["contestants"]) table.push_back(decode_cells(one));
    } else if (row["kind"] == "image") {
        table.push_back({"form", "weights", "least s", "median s"});
        for (const json& one : row["contestants"])
            table.push_back({one["name"], one["precision"],
                             fmt::format("{:.2f}", real(one, "least_s")),
                             fmt::format("{:.2f}", real(one, "median_s"))});
    } else if (row["kind"] == "accuracy") {
        table.push_back({"form", "error of Y", "error of the gradients"});
        for (const json& one : row["contestants"])
            table.push_back(
                {one["name"], error_words(one["error"]), error_words(one["gradient_error"])});
    } else {
        table.push_back({"form", "peak above the inputs, MB"});
        for (const json& one : row["contestants"])
            table.push_back({one["name"], one["peak_bytes"].is_number()
                                              ? fmt::format("{:.1f}", real(one, "peak_bytes") / 1e6)
                                              : "unknown"});
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

std::string race_words(const json& row) {
    std::string out =
        fmt::format("limit {:.2f} ms by {} ({:.2f} GFLOP, {:.1f} MB); ", real(row, "limit_ms"),
                    row["limit_by"].get<std::string>(), real(row, "gflop"), real(row, "megabytes"));
    out += fmt::format("matrix products {} fp32, {} bf16; copy {}; ",
                       pair_words(row, "gemm_fp32_gflops", "GFLOP/s"),
                       pair_words(row, "gemm_bf16_gflops", "GFLOP/s"),
                       pair_words(row, "copy_gbs", "GB/s"));
    const double others = real(row, "others");
    out += others < 0 ? "others: unknown" : fmt::format("others took {:.0f} %", 100 * others);
    if (row["contended"]) out += " (CONTENDED: the figures are not to be trusted)";
    const json& best = row["best"];
    if (best.is_object())
        out += fmt::format("; best peer: {} ({:.2f}x)", best["name"].get<std::string>(),
                           real(best, "ratio"));
    else
        out += row["drift"].is_number()
                   ? fmt::format("; NO RATIO: the calibration drifted by {:.0f} %",
                                 100 * real(row, "drift"))
                   : "; NO RATIO: the calibration failed";
    return out;
}

std::string row_words(const json& row, bool as_markdown) {
    const std::string name = row["case"];
    std::string out = as_markdown ? "\n**" + name + "**" : "\n  " + name;
    if (row["kind"] == "race") out += (as_markdown ? "\n\n" : "\n  ") + race_words(row);
    if (row["kind"] == "decode")
        out +=
            fmt::format("{}copy {:.0f} GB/s; others took {:.0f} %{}", as_markdown ? "\n\n" : "\n  ",
                        real(row, "copy_gbs"), 100 * real(row, "others"),
                        row["contended"] ? " (CONTENDED: the figures are not to be trusted)" : "");
    out += "\n" + std::string(as_markdown ? "\n" : "") + drawn(table_of(row), as_markdown);
    std::string accept;
    for (const json& one : row["accept"])
        accept += fmt::format("{}{}: {}", accept.empty() ? "" : "; ",
                              one["words"].get<std::string>(), one["state"].get<std::string>());
    if (!accept.empty()) out += (as_markdown ? "\nAccept: " : "  accept: ") + accept + "\n";
    return out;
}

std::string machine_words(const json& result) {
    const json& machine = result["machine"];
    return fmt::format("{} on {}, {} cores, {} threads, {}, LibTorch {}, {}; {} rounds{}",
                       machine["program"].get<std::string>(), machine["cpu"].get<std::string>(),
                       machine["cores"].get<int64_t>(), machine["threads"].get<int64_t>(),
                       machine["cpu_capability"].get<std::string>(),
                       machine["libtorch"].get<std::string>(), result["date"].get<std::string>(),
                       result["rounds"].get<int64_t>(),
                       result["quick"].get<bool>() ? ", tiny shapes: the times mean nothing" : "");
}

}  // namespace

std::string words(const json& result) {
    std::string out = machine_words(result) + "\n";
    for (const json& one : result["workloads"]) {
        out += "\n" + one["name"].get<std::string>() + ": " + one["sentence"].get<std::string>() +
               "\n";
        for (const json& row : one["rows"]) out += row_words(row, false);
    }
    return out;
}

std::string markdown(const json& result) {
    std::string out =
        "# Performance\n\nWritten by `afterimage bench --markdown docs/performance.md`. Ours and "
        "the peers run in one process on\nthe same tensors, in turns; the error is against "
        "float64, "
        "taken before the times: the largest difference over\nthe largest value. \"x limit\" is "
        "the "
        "time over the larger of FLOP by the rate of matrix products (fp32) and\nbytes by the rate "
        "of "
        "copying, both of the same process; the ratio is of medians, in brackets the middle half "
        "of\nthe rounds. Attention computes another function; its error is against its own "
        "float64. "
        "Ratios do not carry to\nother machines. Ours has float32 operands.\n\n";
    out += machine_words(result) + ".\n";
    for (const json& one : result["workloads"]) {
        out += "\n## " + one["name"].get<std::string>() + "\n\n" +
               one["sentence"].get<std::string>() + ".\n";
        for (const json& row : one["rows"]) out += row_words(row, true);
    }
    return out;
}

}  // namespace aft::bench
