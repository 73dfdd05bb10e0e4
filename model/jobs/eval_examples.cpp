#include "model/jobs/eval_examples.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "core/check.h"
#include "core/files.h"
#include "core/text.h"
#include "model/data/loader.h"
#include "model/tasks/task.h"

namespace aft {
namespace {

at::Tensor nats_of(const at::Tensor& logits, const at::Tensor& target) {
    const bool has_tokens = logits.dim() == 3;
    const at::Tensor nats = at::cross_entropy_loss(has_tokens ? logits.transpose(1, 2) : logits,
                                                   target, {}, at::Reduction::None)
                                .to(at::kDouble);
    return (has_tokens ? nats.sum(1) : nats).cpu();
}

}  // namespace

void ExampleScores::add(const TaskResult& result, const Batch& batch) {
    if (!result.logits.defined()) return;
    const at::Tensor& target = batch.target;
    const at::Tensor& logits = result.logits;
    const at::Tensor nats = nats_of(logits, target);
    at::Tensor answers, ranks, labels;
    if (task_.traits.has_classes) {
        answers = logits.argmax(-1).cpu();
        ranks = logits.gt(logits.gather(1, target.unsqueeze(1))).sum(1).cpu();
        labels = target.cpu();
    }
    for (int64_t i = 0; i < nats.size(0); ++i) {
        ExampleScore score{.index = batch.indices.at(static_cast<size_t>(i)),
                           .nats = nats[i].item<double>(),
                           .tokens = logits.dim() == 3 ? logits.size(1) : 1};
        if (labels.defined()) {
            score.label = labels[i].item<int64_t>();
            score.answer = answers[i].item<int64_t>();
            score.among_five = ranks[i].item<int64_t>() < 5;
        }
        scores_.push_back(score);
    }
}

double ExampleScores::metric_of(const ExampleScore& score) const {
    const double loss = score.nats / static_cast<double>(std::max<int64_t>(1, score.tokens));
    if (task_.metric != nullptr) return task_.metric(loss);
    return score.label == score.answer ? 1 : 0;
}

std::optional<double> ExampleScores::metric_error() const {
    if (scores_.size() < 2) return {};
    const auto n = static_cast<double>(scores_.size());
    double sum = 0, squares = 0;
    for (const ExampleScore& score : scores_) sum += metric_of(score);
    for (const ExampleScore& score : scores_) squares += std::pow(metric_of(score) - sum / n, 2);
    return std::sqrt(squares / (n - 1) / n);
}

std::vector<double> ExampleScores::metrics() const {
    std::vector<double> values;
    values.reserve(scores_.size());
    for (const ExampleScore& score : scores_) values.push_back(metric_of(score));
    return values;
}

std::optional<EvalClasses> ExampleScores::classes(const DataInfo& info, int64_t count) const {
    if (!task_.traits.has_classes || scores_.empty()) return {};
    EvalClasses classes{.names = info.class_names, .count = count};
    classes.confusion.resize(static_cast<size_t>(count * count));
    int64_t among_five = 0;
    for (const ExampleScore& score : scores_) {
        ++classes.confusion.at(static_cast<size_t>(score.label * count + score.answer));
        among_five += score.among_five ? 1 : 0;
    }
    classes.top5 = static_cast<double>(among_five) / static_cast<double>(scores_.size());
    return classes;
}

void ExampleScores::write_csv(const std::string& path) const {
    const bool has_classes = task_.traits.has_classes;
    write_atomically(path, [&](std::ostream& out) {
        out << "index,nats,tokens," << task_.traits.metric
            << (has_classes ? ",label,answer,among_five\n" : "\n");
        for (const ExampleScore& score : scores_) {
            out << score.index << ',' << exact_number(score.nats) << ',' << score.tokens << ','
                << exact_number(metric_of(score));
            if (has_classes)
                out << ',' << score.label << ',' << score.answer << ','
                    << (score.among_five ? 1 : 0);
            out << '\n';
        }
    });
}

int64_t EvalClasses::examples_of(int64_t label) const {
    int64_t n = 0;
    for (int64_t answer = 0; answer < count; ++answer)
        n += confusion[static_cast<size_t>(label * count + answer)];
    return n;
}

double EvalClasses::accuracy_of(int64_t label) const {
    const int64_t n = examples_of(label);
    if (n == 0) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(confusion[static_cast<size_t>(label * count + label)]) /
           static_cast<double>(n);
}

}  // namespace aft
