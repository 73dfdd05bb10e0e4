#include "app/panels/shared/batch_losses.h"

#include <algorithm>
#include <cmath>

namespace aft::app {

namespace {

constexpr size_t kMostKept = 256;
constexpr int kItemsAtOnce = 32;

// Examples of one question: some 50 ms of two cores, by the maps and MLPs of all layers.
size_t portion_size(const ModelConfig& model, int64_t tokens) {
    constexpr double kFlops = 7.5e9;
    const double d = double(model.dim), flops = 24 * double(tokens) * double(model.layers) * d * d;
    return size_t(std::clamp(kFlops / flops, 1.0, 64.0));
}

// Of all that is wanted, before any of it is measured further: two have a standard error.
size_t first_examples(const ModelConfig& model, int64_t tokens) {
    return std::clamp<size_t>(portion_size(model, tokens), 2, 8);
}

}  // namespace

const RecipeLosses* BatchLosses::of(const Recipe& recipe) const {
    const auto found = std::find_if(measured_.begin(), measured_.end(),
                                    [&](const auto& one) { return one.recipe == recipe; });
    return found == measured_.end() ? nullptr : &*found;
}

RecipeLosses& BatchLosses::losses(const Recipe& recipe) {
    const auto found = std::find_if(measured_.begin(), measured_.end(),
                                    [&](const auto& one) { return one.recipe == recipe; });
    if (found != measured_.end()) {
        measured_.splice(measured_.begin(), measured_, found);
        return measured_.front();
    }
    measured_.push_front({.recipe = recipe, .nats = {}, .right = {}});
    if (measured_.size() > kMostKept) measured_.pop_back();
    return measured_.front();
}

// In their order; those after a missing one wait for it.
void BatchLosses::take_items(PaneContext& ui) {
    item_error_.clear();
    int asked = 0;
    for (auto i = int64_t(items_.size()); i < batch_.examples && asked < kItemsAtOnce; ++i) {
        ItemError error;
        auto item = ui.session->items().example(batch_.split, batch_.first + i, &error);
        if (!item && !error.words.empty()) {
            if (i == int64_t(items_.size())) item_error_ = error.words;
            return;
        }
        if (!item) {
            ++asked;
            continue;
        }
        if (i == int64_t(items_.size())) items_.push_back(std::move(item));
    }
}

ProbeRequest BatchLosses::portion(const PaneContext& ui, const RecipeLosses& of) const {
    ProbeRequest request;
    request.probe = "loss";
    request.step = batch_.step.asked;
    request.recipe = of.recipe;
    const size_t first = of.nats.size();
    const size_t most = portion_size(ui.status.config.model, ui.status.tokens);
    const size_t end = std::min(items_.size(), first + most);
    for (size_t i = first; i < end; ++i) {
        request.tokens.insert(request.tokens.end(), items_[i]->tokens.begin(),
                              items_[i]->tokens.end());
        if (ui.status.task.has_classes) request.labels.push_back(items_[i]->label);
    }
    return request;
}

bool BatchLosses::advance(PaneContext& ui, RecipeLosses& of, size_t target) {
    const auto wanted = size_t(batch_.examples);
    if (!of.error.empty() || of.nats.size() >= target) return true;
    is_busy_ = item_error_.empty();
    // Whole portions, so that the same questions are asked whenever items come.
    const size_t most = portion_size(ui.status.config.model, ui.status.tokens);
    if (items_.size() < std::min(wanted, of.nats.size() + most)) return false;
    if (asked_at_ < 0) asked_at_ = ui.time;
    const FieldSetPtr answer =
        ui.session->probes().ask(portion(ui, of), /*stale_ok=*/false, &of.error);
    if (!answer) return !of.error.empty();
    const Field& nats = answer->fields.front();
    if (step_ >= 0 && nats.step != step_) {  // other weights: all of it anew
        measured_.clear();
        step_ = nats.step;
        ui.want_frames(1);
        return false;
    }
    step_ = nats.step;
    of.nats.insert(of.nats.end(), nats.values.begin(), nats.values.end());
    if (answer->fields.size() > 1)
        of.right.insert(of.right.end(), answer->fields[1].values.begin(),
                        answer->fields[1].values.end());
    of.seconds = ui.time - asked_at_;
    ui.want_frames(1);
    const bool is_done = of.nats.size() >= target;
    if (is_done) asked_at_ = -1;
    return is_done;
}

void BatchLosses::update(PaneContext& ui, const LossBatch& batch,
                         const std::vector<Recipe>& wanted) {
    is_busy_ = false;
    if (!(batch == batch_)) {
        const bool has_other_items = batch.path != batch_.path || batch.data != batch_.data ||
                                     batch.split != batch_.split || batch.first != batch_.first;
        if (has_other_items) items_.clear();
        if (items_.size() > size_t(batch.examples)) items_.resize(size_t(batch.examples));
        measured_.clear();
        step_ = -1;
        asked_at_ = -1;
        batch_ = batch;
    }
    if (batch.data.empty()) {
        item_error_ = "The data of this model are not known";
        return;
    }
    take_items(ui);
    // A few examples of all of them first: then the answer becomes sharper.
    for (auto target = first_examples(ui.status.config.model, ui.status.tokens);; target *= 2) {
        target = std::min(target, size_t(batch.examples));
        for (const Recipe& recipe : wanted)
            if (!advance(ui, losses(recipe), target)) return;
        if (target == size_t(batch.examples)) return;
    }
}

std::optional<PairedChange> BatchLosses::change(const Recipe& recipe) const {
    const RecipeLosses *const before = of({}), *const after = of(recipe);
    if (before == nullptr || after == nullptr || after->nats.empty()) return std::nullopt;
    return paired_change(before->nats, after->nats);
}

}  // namespace aft::app
