#include "model/config.h"

#include "core/check.h"
#include "model/mixers/find.h"
#include "model/run_name.h"
#include "model/tasks/task.h"
#include "model/training_settings.h"

namespace aft {

namespace {

constexpr double kMany = 1e9;  // upper end of counts that only memory limits

template <class Room>
std::vector<std::string> names_of(const std::vector<Room>& rooms) {
    std::vector<std::string> names;
    for (const Room& room : rooms) names.push_back(room.info.name);
    return names;
}

void require(bool condition, const std::string& message) {
    if (!condition) throw Error(message, ErrorKind::usage);
}

Setting positions_row(std::string* positions) {
    Setting row = text_row("model.positions", positions,
                           "Position embedding: learned, sinusoidal (Vaswani et al., section 3.5), "
                           "or none.",
                           {"learned", "sinusoidal", "none"});
    row.if_true = "learned";  // a flag in older files
    row.if_false = "none";
    return row;
}

void check_inner(const ModelConfig& model) {
    require(model.inner_width() == model.dim || model.output_projection,
            fmt::format("model.inner = {} differs from model.dim = {}, which needs "
                        "model.output_projection=true",
                        model.inner, model.dim));
}

}  // namespace

void ModelConfig::visit(SettingRows& rows) {
    const auto add = [&](Setting row) { rows.push_back(std::move(row)); };
    add(text_row("model.task", &task,
                 "What the model predicts: sub-pixels of an image, bytes of a text, or a class.",
                 names_of(tasks())));
    add(text_row("model.mixer", &mixer, "What mixes the tokens of a sequence.",
                 names_of(mixers())));
    add(number_row("model.layers", &layers, "Number of blocks.", {1, 512}));
    add(number_row("model.dim", &dim, "Channels d of every token.", {1, 65536}));
    add(number_row("model.inner", &inner, "Width of q, k and v inside the mixer; 0 = model.dim.",
                   {0, 65536}));
    for (const MixerRoom& room : mixers())
        if (room.visit != nullptr) room.visit(own, rows);
    add(number_row("model.mlp_ratio", &mlp_ratio, "Width of the MLP in multiples of d.", {1, 64}));
    add(number_row("model.height", &height, "Rows of the image.", {1, 16384, "pixels"}));
    add(number_row("model.width", &width, "Columns of the image.", {1, 16384, "pixels"}));
    add(number_row("model.channels", &channels, "Colour channels of the image.", {1, 4}));
    add(number_row("model.levels", &levels, "Values that a sub-pixel or a byte can have.",
                   {2, 256}));
    for (const TaskRoom& room : tasks())
        if (room.visit != nullptr) room.visit(own, rows);
    add(number_row("model.dropout", &dropout,
                   "Share of values dropped after the output projection and the MLP.",
                   {0, 0.95, "", true, true}));
    add(flag_row("model.output_projection", &output_projection,
                 "A linear map after the mixer (Wo)."));
    add(flag_row("model.qkv_bias", &qkv_bias, "The maps to q, k and v add a bias."));
    add(flag_row("model.start_token", &start_token,
                 "A sequence starts with a learned token of its own; off: with token 0."));
    add(positions_row(&positions));
    add(text_row("model.activation", &activation, "Activation of the MLP.",
                 {"gelu", "gelu-tanh", "relu"}));
    add(number_row("model.norm_eps", &norm_eps, "Added to the variance in layer norms.",
                   {1e-12, 1}));
    add(text_row(
        "model.init", &init,
        "Initial weights: normal = N(0, 0.02^2), fan-in = N(0, 1/inputs), ordered = fan-in "
        "with tables that know the order of values and positions.",
        {"normal", "fan-in", "ordered"}));
}

bool ModelConfig::causal() const {
    const TaskRoom& room = task_of(*this);
    return room.is_causal != nullptr ? room.is_causal(*this) : room.traits.is_autoregressive;
}

int64_t ModelConfig::grid_height() const {
    return task_of(*this).grid(*this).height;
}

int64_t ModelConfig::grid_width() const {
    return task_of(*this).grid(*this).width;
}

int64_t ModelConfig::tokens() const {
    const TokenGrid grid = task_of(*this).grid(*this);
    return grid.height * grid.width + grid.prefix_tokens;
}

int64_t ModelConfig::prefix_tokens() const {
    return task_of(*this).grid(*this).prefix_tokens;
}

int64_t ModelConfig::outputs() const {
    const TaskRoom& room = task_of(*this);
    return room.outputs != nullptr ? room.outputs(*this) : levels;
}

void ModelConfig::check() const {
    const MixerRoom& room = find_mixer(mixer);
    const TaskTraits& kind = task_traits(*this);
    const MixerTraits traits = room.traits(*this);
    for (const TaskRoom& other : tasks())
        if (other.check != nullptr) other.check(*this);
    require(causal() ? traits.causal : traits.non_causal,
            fmt::format("model.mixer={} cannot serve model.task={} ({})", mixer, task,
                        causal() ? "causal" : "not causal"));
    require(
        init != "ordered" || kind.tokens == TokenKind::values,
        fmt::format("model.init=ordered needs values with an order: model.task=image, found '{}'; "
                    "use fan-in",
                    task));
    check_inner(*this);
    require(init != "ordered" || positions != "sinusoidal",
            "model.positions=sinusoidal with model.init=ordered: the ordered start makes a learned "
            "table; use learned or none");
    require(tokens() <= int64_t{1} << 20,
            fmt::format("a sequence of {} tokens is too long; allowed: at most 1048576", tokens()));
    if (room.check != nullptr) room.check(*this);
}

void DataConfig::visit(SettingRows& rows) {
    rows.push_back(text_row("data.source", &source,
                            "Where examples come from: NAME[:PATH][?option=value&...]."));
    rows.push_back(text_row("data.augment", &augment,
                            "Changes to training examples: flip, recipe-a (flip, then one number "
                            "in -10 to 10 on all values), recipe-c (flip, random crop, "
                            "RandAugment, erasing, mixup, CutMix), shift (up to 2 pixels).",
                            {"none", "flip", "recipe-a", "recipe-c", "shift"}));
    strengths.visit(rows);
    rows.push_back(
        number_row("data.threads", &threads, "Threads that prepare batches.", {1, 64, "threads"}));
}

void AugmentStrengths::visit(SettingRows& rows) {
    const auto add = [&](const char* key, double* value, const char* help, double most) {
        rows.push_back(number_row(key, value, help, {-1, most}));
    };
    add("data.crop", &crop,
        "Random resized crop: smallest share of the picture's area; 0 = off, -1 = as data.augment "
        "says (recipe-c: 0.08).",
        1);
    add("data.rand_augment", &rand_augment,
        "Magnitude of RandAugment, of 10; 0 = off, -1 = as data.augment says (recipe-c: 9).", 10);
    rows.push_back(number_row("data.rand_augment_ops", &rand_augment_ops,
                              "Operations of RandAugment on one picture.", {1, 14}));
    add("data.erasing", &erasing,
        "Probability that a rectangle is erased; 0 = off, -1 = as data.augment says (recipe-c: "
        "0.25).",
        1);
    add("data.mixup", &mixup,
        "Alpha of mixup, which blends two pictures and their labels; 0 = off, -1 = as data.augment "
        "says (recipe-c: 0.8).",
        100);
    add("data.cutmix", &cutmix,
        "Alpha of CutMix, which pastes a part of another picture; 0 = off, -1 = as data.augment "
        "says (recipe-c: 1).",
        100);
    rows.push_back(number_row("data.repeated", &repeated,
                              "Times that each example is taken in a row, augmented anew.",
                              {1, 100}));
}

bool AugmentStrengths::any() const {
    return crop > 0 || rand_augment > 0 || erasing > 0 || mixup > 0 || cutmix > 0 || repeated > 1;
}

// recipe-c: DeiT's values (Touvron et al. 2021, Table 9), which the paper takes.
AugmentStrengths DataConfig::resolved() const {
    AugmentStrengths out = strengths;
    const bool is_recipe = augment == "recipe-c";
    const auto resolve = [&](double& value, double of_recipe) {
        if (value < 0) value = is_recipe ? of_recipe : 0;
    };
    resolve(out.crop, 0.08);
    resolve(out.rand_augment, 9);
    resolve(out.erasing, 0.25);
    resolve(out.mixup, 0.8);
    resolve(out.cutmix, 1);
    return out;
}

static void visit_optimizer(TrainConfig& c, SettingRows& rows) {
    const auto add = [&](Setting row) { rows.push_back(std::move(row)); };
    add(text_row("train.schedule", &c.schedule,
                 "Learning rate over time, after the warm-up: inverse-sqrt, cosine (down to 2 %), "
                 "constant.",
                 {"inverse-sqrt", "cosine", "constant"}));
    add(number_row("train.learning_rate", &c.learning_rate, "Highest learning rate.",
                   {0, 10, "", true, true}));
    add(number_row("train.warmup", &c.warmup, "Steps until the learning rate is reached.",
                   {0, kMany, "steps"}));
    add(number_row("train.weight_decay", &c.weight_decay,
                   "Weight decay, on the weights of linear maps only.", {0, 10, "", true, true}));
    add(number_row("train.bias_learning_rate_scale", &c.bias_learning_rate_scale,
                   "Learning rate of w, u, r, kernels, gamma and beta in multiples of the others'.",
                   {0, 1000, "", true, true}));
    add(number_row("train.bias_weight_decay", &c.bias_weight_decay,
                   "Weight decay of position biases.", {0, 10, "", true, true}));
    add(number_row("train.beta1", &c.beta1, "AdamW: decay of the mean of gradients.",
                   {0, 0.999999}));
    add(number_row("train.beta2", &c.beta2, "AdamW: decay of the mean of squared gradients.",
                   {0, 0.99999999}));
    add(number_row("train.eps", &c.eps, "AdamW: added to the root of the squared gradients.",
                   {1e-30, 1}));
    add(number_row("train.clip", &c.clip, "Largest norm of all gradients together; 0 = no limit.",
                   {0, kMany, "", true, true}));
    add(number_row("train.stochastic_depth", &c.stochastic_depth,
                   "Share of the examples that skip a branch of the last block; falls linearly to "
                   "0 at the first.",
                   {0, 0.95}));
    add(number_row("train.ema", &c.ema,
                   "Decay of a moving average of the weights, which validation uses; 0 = none.",
                   {0, 0.9999999}));
    for (const TaskRoom& room : tasks())
        if (room.visit_training != nullptr) room.visit_training(c.own, rows);
    visit_settings<FreezeSettings>(c.own, rows);
}

void TrainConfig::visit(SettingRows& rows) {
    const auto add = [&](Setting row) { rows.push_back(std::move(row)); };
    add(number_row("train.batch", &batch, "Examples of one step.",
                   {1, 65536, "examples", true, true}));
    Setting micro = number_row("train.micro_batch", &micro_batch,
                               "Examples computed at once, gradients added up; 0, or more than "
                               "train.batch = the whole batch.",
                               {0, 65536, "examples", true});
    micro.at_min = "the whole batch";
    add(std::move(micro));
    add(flag_row("train.recompute", &recompute,
                 "Compute a block again in the backward pass instead of keeping its activations."));
    add(flag_row("train.reproducible", &reproducible,
                 "Add up the gradients of micro batches as a binary tree, so that one process and "
                 "several ranks give the same bits; train.batch / train.micro_batch must be a "
                 "power of two."));
    add(flag_row("train.shard_optimizer", &shard_optimizer,
                 "Each of several ranks keeps and updates its part of AdamW's averages alone "
                 "(ZeRO 1): less memory, the same bits."));
    add(text_row("train.precision", &precision,
                 "Arithmetic of the blocks' matrix products in training: float32, or bfloat16 "
                 "operands with sums in float32, about twice as fast where the processor has it. "
                 "The MLP follows only with the exact GELU; embedding and head stay float32. Not "
                 "on a GPU.",
                 {"fp32", "bf16"}));
    add(text_row("train.backend", &backend,
                 "Operators: auto (vector kernels on the processor, elsewhere tiled), tiled "
                 "(LibTorch's products in blocks), or the float64 reference.",
                 {"auto", "tiled", "reference"}));
    add(number_row("train.steps", &steps, "Step to stop at.", {0, kMany, "steps", true}));
    add(number_row("train.schedule_steps", &schedule_steps,
                   "Length of the schedule; 0 = train.steps of the config.", {0, kMany, "steps"}));
    visit_optimizer(*this, rows);
    add(number_row("train.seed", &seed, "Seed of weights, data order and dropout.", {0, 0x1p53}));
    add(number_row("train.log_every", &log_every, "Steps between lines of the metrics file.",
                   {1, kMany, "steps", true}));
    add(number_row("train.checkpoint_every", &checkpoint_every,
                   "Steps between saved checkpoints; 0 = only the last.", {0, kMany, "steps"}));
    add(number_row("train.save_minutes", &save_minutes,
                   "Minutes until a checkpoint is saved that train.checkpoint_every has not; only "
                   "the newest of these is kept; 0 = never.",
                   {0, 1e6, "minutes"}));
    add(number_row("train.keep_checkpoints", &keep_checkpoints,
                   "Newest checkpoints that are kept beside those saved by hand; 0 = all.",
                   {0, kMany}));
    add(flag_row("train.keep_best", &keep_best,
                 "Keep the checkpoint of the lowest validation loss, too."));
    add(number_row("train.validate_every", &validate_every, "Steps between validations; 0 = never.",
                   {0, kMany, "steps", true}));
    add(number_row("train.validate_examples", &validate_examples,
                   "Examples of one validation, spread over the part.", {1, kMany, "examples"}));
    add(number_row("train.publish_every", &publish_every, "Steps between snapshots for the window.",
                   {1, kMany, "steps", true}));
    add(number_row("train.history_frames", &history_frames,
                   "Stored steps of the position biases, for scrubbing.", {2, 100000}));
    visit_settings<StopSettings>(own, rows);
}

SettingRows Config::rows() {
    SettingRows rows;
    model.visit(rows);
    data.visit(rows);
    train.visit(rows);
    return rows;
}

// Of each augmentation that is on: whether the task has what it changes.
static void check_strengths(const DataConfig& data, const TaskTraits& task) {
    SettingRows rows;
    AugmentStrengths given = data.strengths;
    given.visit(rows);
    for (const Setting& row : rows) {
        const auto* const* value = std::get_if<double*>(&row.value);
        require(value == nullptr || **value == -1 || **value >= 0,
                fmt::format("{} = {}; {}, or -1", row.key, value_text(row), "allowed: 0 or more"));
    }
    const AugmentStrengths on = data.resolved();
    require(!task.is_text() || !on.any(),
            "data.crop, rand_augment, erasing, mixup, cutmix and repeated change pictures; a text "
            "allows none of them");
    const char* const key = on.mixup > 0     ? "data.mixup"
                            : on.cutmix > 0  ? "data.cutmix"
                            : on.erasing > 0 ? "data.erasing"
                                             : nullptr;
    require(task.has_classes || key == nullptr,
            fmt::format("{} is for classes of pictures (model.task=classify){}",
                        key == nullptr ? "" : key,
                        data.augment == "recipe-c" ? ", as is data.augment=recipe-c" : ""));
}

void Config::check() {
    const std::string problem = name_problem(name);
    require(problem.empty(), problem);
    model.check();
    const TaskTraits& task = task_traits(model);
    require(!task.is_text() || data.augment == "none",
            fmt::format("data.augment={} changes pictures; model.task={} allows: none",
                        data.augment, model.task));
    check_strengths(data, task);
}

}  // namespace aft
