// toy-values: a task that the program does not have: autoregression over the values of a picture,
// reported as perplexity; the loss may count the last values of a picture alone, and training may
// smooth its targets (its own settings).
#include <ATen/ATen.h>

#include <cmath>

#include "model/nn/fused.h"
#include "model/tasks/task.h"

namespace aft {

TaskRoom toy_task();

namespace {

struct ToyTaskSettings {
    int64_t counted = 0;
    void visit(SettingRows& rows) {
        rows.push_back(number_row("model.counted", &counted,
                                  "toy-values: the last values that count; 0 = all.",
                                  {0, 1048576, "values"}));
    }
};

struct ToyTrainingSettings {
    double value_smoothing = 0;
    void visit(SettingRows& rows) {
        rows.push_back(number_row("train.value_smoothing", &value_smoothing,
                                  "toy-values: share of the target spread over all values.",
                                  {0, 0.9}));
    }
};

double perplexity(double loss) {
    return std::exp(loss);
}

TaskResult evaluate_values(const Net& net, const Batch& batch, const Pass& pass,
                           const RoomSettings& training) {
    const int64_t T = batch.target.size(1);
    const int64_t counted = net.config().own.read<ToyTaskSettings>().counted;
    const int64_t first = counted == 0 ? 0 : std::max<int64_t>(0, T - counted);
    const at::Tensor logits = net.forward(batch.input, pass).slice(1, first);
    const at::Tensor target = batch.target.slice(1, first);
    TaskResult result;
    result.loss = mean_cross_entropy(logits.flatten(0, 1), target.flatten(),
                                     training.read<ToyTrainingSettings>().value_smoothing);
    result.tokens = target.numel();
    result.examples = target.size(0);
    result.metrics["perplexity"] = perplexity(result.loss.item<double>());
    return result;
}

}  // namespace

TaskRoom toy_task() {
    return {.info = {"toy-values", "The values of a picture by their perplexity, for tests."},
            .traits = {.metric = "perplexity", .metric_words = "perplexity", .loss_in_bits = false},
            .grid = grid_of_values,
            .metric = perplexity,
            .evaluate = evaluate_values,
            .visit = visit_settings<ToyTaskSettings>,
            .visit_training = visit_settings<ToyTrainingSettings>};
}

}  // namespace aft
