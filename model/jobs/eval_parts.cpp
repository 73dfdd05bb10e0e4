#include "model/jobs/eval_parts.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/json.h"
#include "model/distributed/rank_group.h"

namespace aft {
namespace {

using Json = nlohmann::json;

// null: no finite number.
double real_or_nan(const Json& value) {
    return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

Json row_of(const ExampleScore& one) {
    return {one.index, one.nats, one.tokens, one.label, one.answer, one.among_five};
}

ExampleScore score_of(const Json& row) {
    return {.index = row.at(0),
            .nats = real_or_nan(row.at(1)),
            .tokens = row.at(2),
            .label = row.at(3),
            .answer = row.at(4),
            .among_five = row.at(5)};
}

}  // namespace

bool EvalParts::is_mine(int64_t batch) const {
    return ranks_ == nullptr || batch % ranks_->size() == ranks_->rank();
}

void EvalParts::add(int64_t batch, const EvalTotals& totals) {
    parts_.push_back({batch, totals});
}

void EvalParts::share(ExampleScores& scores) {
    Json mine{{"parts", Json::array()}, {"scores", Json::array()}};
    for (const BatchTotals& part : parts_) {
        const EvalTotals& of = part.totals;
        mine["parts"].push_back({part.batch, of.nats, of.metric, of.tokens, of.examples});
    }
    for (const ExampleScore& one : scores.all()) mine["scores"].push_back(row_of(one));
    parts_.clear();
    std::vector<ExampleScore> examples;
    const std::vector<std::string> said = ranks_->gather(json_text(mine), Patience::endless);
    for (size_t rank = 0; rank < said.size(); ++rank) {
        const Json theirs = parse_json(said[rank], {.file = ranks_->name(static_cast<int>(rank))});
        for (const Json& row : theirs.at("parts"))
            parts_.push_back(
                {row.at(0),
                 {real_or_nan(row.at(1)), real_or_nan(row.at(2)), row.at(3), row.at(4)}});
        for (const Json& row : theirs.at("scores")) examples.push_back(score_of(row));
    }
    const auto by_batch = [](const BatchTotals& a, const BatchTotals& b) {
        return a.batch < b.batch;
    };
    std::stable_sort(parts_.begin(), parts_.end(), by_batch);
    std::sort(examples.begin(), examples.end(),
              [](const ExampleScore& a, const ExampleScore& b) { return a.index < b.index; });
    scores.set(std::move(examples));
}

EvalTotals EvalParts::all(ExampleScores& scores) {
    if (ranks_ != nullptr) share(scores);
    EvalTotals sum;
    for (const BatchTotals& part : parts_) {
        sum.nats += part.totals.nats;
        sum.metric += part.totals.metric;
        sum.tokens += part.totals.tokens;
        sum.examples += part.totals.examples;
    }
    return sum;
}

}  // namespace aft
