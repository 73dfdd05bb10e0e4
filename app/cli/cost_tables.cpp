#include "app/cli/cost_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "app/cli/cost_plot.h"
#include "core/check.h"
#include "core/figure/scene.h"
#include "core/files.h"
#include "core/outside.h"
#include "core/text.h"

namespace aft::app {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr double kGiga = 1e9, kMega = 1e6;

std::string number(double value) {
    return fmt::format("{:.4g}", value);
}

std::string milliseconds(double seconds) {
    return fmt::format("{:.3g}", 1e3 * seconds);
}

std::string whole(double value) {
    return group_thousands(static_cast<int64_t>(value));
}

// Columns of a cost; the last two where tokens are decoded.
std::vector<std::string> cost_cells(const LayerCost& cost, bool decodes) {
    std::vector<std::string> cells{whole(cost.parameters), number(cost.forward_flops / kGiga),
                                   number((cost.forward_flops + cost.backward_flops) / kGiga),
                                   byte_size(cost.kept_bytes)};
    if (decodes)
        cells.insert(cells.end(), {number(cost.decode_flops / kMega), byte_size(cost.state_bytes)});
    return cells;
}

std::vector<std::string> cost_heads(bool decodes) {
    std::vector<std::string> heads{"parameters", "forward GFLOP", "train GFLOP", "activations"};
    if (decodes) heads.insert(heads.end(), {"token MFLOP", "state"});
    return heads;
}

std::string model_table(const CostResult& result) {
    Rows rows{cost_heads(result.decodes)};
    rows[0].insert(rows[0].begin(), "part");
    const auto add = [&](const std::string& name, const LayerCost& cost) {
        rows.push_back(cost_cells(cost, result.decodes));
        rows.back().insert(rows.back().begin(), name);
    };
    for (const NetPart& part : result.net.parts) add(part.name, part.cost);
    add("all", result.net.all);
    return aligned_table(rows, 1);
}

// Weights, gradients and AdamW's two means beside the activations of a micro batch.
std::string training_words(const CostResult& result) {
    const TrainConfig& train = result.config.train;
    const bool is_cut = train.micro_batch > 0 && train.micro_batch < train.batch;
    const int64_t examples = is_cut ? train.micro_batch : train.batch;
    const bool again = train.recompute && result.net.recomputed_bytes > 0;
    const double kept = again ? result.net.recomputed_bytes : result.net.all.kept_bytes;
    return fmt::format(
        "training keeps {} of weights, gradients and AdamW's means, and {} of activations for {} "
        "examples at once{}\n",
        byte_size(16 * result.net.all.parameters), byte_size(static_cast<double>(examples) * kept),
        examples, again ? " (train.recompute)" : "");
}

std::string estimate_words(const CostResult& result) {
    std::string words = fmt::format(
        "estimate from {} GFLOP/s and {} GB/s measured now ({}): forward {} ms, train {} ms",
        number(result.rates.flops_per_second / kGiga),
        number(result.rates.bytes_per_second / kGiga), result.rates.device,
        milliseconds(result.seconds.forward), milliseconds(result.seconds.train));
    if (result.decodes) words += fmt::format(", token {} ms", milliseconds(result.seconds.token));
    return words + " an example\n";
}

std::vector<int64_t> lengths_of(const CostResult& result) {
    std::set<int64_t> lengths;
    for (const CostRow& row : result.rows) lengths.insert(row.shape.tokens);
    return {lengths.begin(), lengths.end()};
}

std::string mixer_table(const CostResult& result, int64_t tokens) {
    Rows rows{cost_heads(result.decodes)};
    rows[0].insert(rows[0].begin(), "mixer");
    rows[0].insert(rows[0].end(), {"forward ms", "train ms"});
    if (result.decodes) rows[0].push_back("token ms");
    rows[0].insert(rows[0].end(), {"time", "space"});
    for (const CostRow& row : result.rows) {
        if (row.shape.tokens != tokens) continue;
        rows.push_back(cost_cells(row.cost.layer, result.decodes));
        std::vector<std::string>& cells = rows.back();
        cells.insert(cells.begin(), (row.is_own ? "* " : "  ") + row.mixer);
        cells.push_back(milliseconds(row.seconds.forward));
        cells.push_back(milliseconds(row.seconds.train));
        if (result.decodes) cells.push_back(milliseconds(row.seconds.token));
        cells.insert(cells.end(), {row.cost.time, row.cost.space});
    }
    return aligned_table(rows, 1);
}

// A quantity by mixer and length.
std::string length_table(const CostResult& result, const CostQuantity& quantity) {
    const std::vector<int64_t> lengths = lengths_of(result);
    Rows rows{{"mixer"}};
    for (const int64_t length : lengths) rows[0].push_back(fmt::format("T={}", length));
    for (const CostRow& row : result.rows) {
        const std::string name = (row.is_own ? "* " : "  ") + row.mixer;
        if (rows.back()[0] != name) {
            rows.push_back(std::vector<std::string>(lengths.size() + 1, "-"));
            rows.back()[0] = name;
        }
        const auto place = std::find(lengths.begin(), lengths.end(), row.shape.tokens);
        rows.back()[static_cast<size_t>(place - lengths.begin()) + 1] = number(quantity.value(row));
    }
    return aligned_table(rows, 1);
}

std::string gap_words(const CostResult& result) {
    std::string words;
    std::set<std::string> shown_before;
    for (const CostRow& row : result.rows)
        if (!row.changed.empty() && shown_before.insert(row.mixer).second)
            words += fmt::format("{}: with {}\n", row.mixer, fmt::join(row.changed, ", "));
    for (const CostGap& gap : result.gaps)
        words += fmt::format("not {}{}: {}\n", gap.mixer,
                             gap.tokens > 0 ? fmt::format(" at {} tokens", gap.tokens) : "",
                             printable_line(gap.reason));
    return words.empty() ? "" : "\n" + words;
}

std::string cost_csv(const CostResult& result) {
    std::string text =
        "mixer,is_own,tokens,grid_height,grid_width,parameters,forward_flops,train_flops,"
        "activation_bytes,token_flops,state_bytes,estimated_forward_seconds,"
        "estimated_train_seconds,estimated_token_seconds,time,space,changed\n";
    for (const CostRow& row : result.rows) {
        const LayerCost& cost = row.cost.layer;
        const auto token = [&](double v) { return result.decodes ? exact_number(v) : ""; };
        text += fmt::format(
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", row.mixer,
            row.is_own ? "true" : "false", row.shape.tokens, row.shape.grid_height,
            row.shape.grid_width, exact_number(cost.parameters), exact_number(cost.forward_flops),
            exact_number(cost.forward_flops + cost.backward_flops), exact_number(cost.kept_bytes),
            token(cost.decode_flops), token(cost.state_bytes), exact_number(row.seconds.forward),
            exact_number(row.seconds.train), token(row.seconds.token), row.cost.time,
            row.cost.space, fmt::join(row.changed, " "));
    }
    return text;
}

}  // namespace

std::string cost_words(const CostResult& result) {
    const std::vector<int64_t> lengths = lengths_of(result);
    std::string out = fmt::format("{}\nthe model, one example of {} tokens, float32, counted\n",
                                  printable_line(result.config.name), result.tokens);
    out += model_table(result) + training_words(result) + estimate_words(result);
    if (!lengths.empty()) {
        const bool has_own = std::count(lengths.begin(), lengths.end(), result.tokens) > 0;
        const int64_t focus = has_own ? result.tokens : lengths.front();
        out += fmt::format(
            "\none layer with each mixer, {} tokens (*: the model's; ms: estimates; time, space: "
            "the published orders, s: window)\n",
            focus);
        out += mixer_table(result, focus);
        if (lengths.size() > 1)
            for (const CostQuantity& quantity : cost_quantities(result.decodes))
                out += fmt::format("\n{}\n", quantity.words) + length_table(result, quantity);
    }
    return out + gap_words(result);
}

void check_cost_file(const std::string& path) {
    if (path.empty()) return;
    if (path.ends_with(".csv"))
        check_writable(path);
    else
        check_figure_file(path);
}

void write_cost_file(const std::string& path, const CostResult& result) {
    if (path.ends_with(".csv"))
        write_atomically(path, cost_csv(result));
    else
        write_figure(path, cost_scene(result), 2);
}

}  // namespace aft::app
