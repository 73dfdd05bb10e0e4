// What a model, its data and its training are: plain structs, one visit() row per setting. No
// LibTorch. The same dotted keys appear in --set, JSON configs, presets, checkpoint metadata and
// the window.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/settings.h"
#include "model/maps.h"
#include "model/room_settings.h"

namespace aft {

struct ModelConfig {
    std::string task = "image";      // room of model/tasks: image (autoregression), text, classify
    std::string mixer = "aft-full";  // room of model/mixers
    int64_t layers = 2, dim = 32, mlp_ratio = 4;
    int64_t inner = 0;  // width of q, k and v; 0 = dim
    // Input. Pictures: height * width pixels of `channels` values each; `levels` values of a token.
    int64_t height = 16, width = 16, channels = 1, levels = 16;
    double dropout = 0;
    bool output_projection = true;
    bool qkv_bias = true;
    bool start_token = true;            // learned; without it token 0 stands at the start
    std::string positions = "learned";  // position embedding: learned, sinusoidal, none
    std::string activation = "gelu";    // gelu, gelu-tanh, relu
    double norm_eps = 1e-5;
    // Initialisation: "normal" = N(0, 0.02^2) (the paper's silence filled as GPT-2); "fan-in" =
    // N(0, 1/fan_in) with o and fc2 scaled by 1/sqrt(2 layers) (the demos); "ordered" = fan-in plus
    // the ordered start of image values and positions (token rows and head sin/cos of the value,
    // positions y + x + channel).
    std::string init = "normal";
    // What mixers and tasks declare for themselves (model/room_settings.h): heads, window, length,
    // patch, ... The keys are "model.*" like the others.
    RoomSettings own;
    // Where a file holds position biases alone: its layers, which no setting describes.
    MapsConfig maps{};

    void visit(SettingRows& rows);         // keys "model.*", those of all rooms too
    [[nodiscard]] bool causal() const;     // what the task says
    [[nodiscard]] int64_t tokens() const;  // T, the class token included
    [[nodiscard]] int64_t inner_width() const { return inner > 0 ? inner : dim; }
    [[nodiscard]] bool has_positions() const { return positions != "none"; }
    // Rows and columns of the token grid (image: height, width * channels; classify: height/patch,
    // width/patch; text: 1, length).
    [[nodiscard]] int64_t grid_height() const;
    [[nodiscard]] int64_t grid_width() const;
    // Before the grid: a class token, and after it a distillation token (0 to 2).
    [[nodiscard]] int64_t prefix_tokens() const;
    [[nodiscard]] int64_t outputs() const;  // logits of a token or of the input
    void check() const;  // throws usage Error on values that contradict each other
};

// How strong each augmentation is; 0 = off, -1 = what data.augment gives (recipe-c: the paper's
// recipe for ImageNet; the others: 0). Sources are in model/data/augment.
struct AugmentStrengths {
    double crop = -1;          // random resized crop: smallest share of the area, up to 1
    double rand_augment = -1;  // magnitude of RandAugment, up to 10
    int64_t rand_augment_ops = 2;
    double erasing = -1;             // random erasing: probability
    double mixup = -1, cutmix = -1;  // alpha of Beta(alpha, alpha)
    int64_t repeated = 1;            // times that each example is taken in a row
    void visit(SettingRows& rows);   // keys "data.*"
    [[nodiscard]] bool any() const;  // one of them is on; of resolved ones
};

struct DataConfig {
    std::string source = "mirror";  // SPEC: "cifar10:DIR?size=16", "mirror?size=16&levels=16"
    // none, flip, shift (2 pixels), recipe-a (flip, then one integer in [-10, 10] on all
    // sub-pixels), recipe-c (flip, and the strengths of the paper's recipe for ImageNet)
    std::string augment = "none";
    AugmentStrengths strengths{};
    int64_t threads = 1;  // loader threads
    void visit(SettingRows& rows);
    [[nodiscard]] AugmentStrengths resolved() const;  // no -1 left
};

struct TrainConfig {
    int64_t batch = 16, micro_batch = 0;  // micro_batch 0, or above batch = all at once
    bool recompute = false;               // activations of a block again in the backward pass
    bool reproducible = false;     // micro batches are added up as a tree: ranks change no bit
    bool shard_optimizer = false;  // each of several ranks keeps its part of AdamW's state
    std::string precision = "fp32";
    std::string backend = "auto";  // operators: auto (vector kernels, else tiled), tiled, reference
    int64_t steps = 250, schedule_steps = 0;  // schedule_steps 0 = steps as given by the config
    std::string schedule = "cosine";          // inverse-sqrt, cosine (to 2 %), constant
    double learning_rate = 3e-3;
    int64_t warmup = 50;
    double weight_decay = 0.1;             // weights of linear maps only
    double bias_learning_rate_scale = 10;  // w, u, r, kernels, gamma, beta
    double bias_weight_decay = 0;
    double beta1 = 0.9, beta2 = 0.98, eps = 1e-8, clip = 1;
    // Share of the examples that skip a branch of the last block, linear over depth from 0.
    double stochastic_depth = 0;
    double ema = 0;          // decay of the moving average of the weights; 0 = none
    bool keep_best = false;  // keep the checkpoint of the lowest validation loss
    int64_t seed = 1;
    int64_t log_every = 1, checkpoint_every = 1000, keep_checkpoints = 3;
    double save_minutes = 5;
    int64_t validate_every = 50, validate_examples = 64;
    // Steps between snapshots, widened where publishing would cost over 2 %.
    int64_t publish_every = 5;
    int64_t history_frames = 64;  // bias history kept for scrubbing
    RoomSettings own;             // what tasks declare for their training: "train.*"
    void visit(SettingRows& rows);
};

struct Config {
    ModelConfig model;
    DataConfig data;
    TrainConfig train;
    std::string name = "run";          // preset name or file stem
    [[nodiscard]] SettingRows rows();  // pointers into this object
    void check();
};

// Keys of rooms that the config's mixer and task do not read: "model.window" with aft-simple.
[[nodiscard]] std::set<std::string> unread_settings(const Config& config);
// Gives them their defaults: what a preset set for a mixer that another one has replaced.
void reset_unread(Config& config);
// Throws usage Error where one of these keys, which a user has given, is not read; it names those
// that read it. where: "FILE: ", "--set ". What merely stands in the file of a run or a checkpoint
// was not given.
void check_read(const Config& config, const std::vector<std::string>& given,
                const std::string& where);

// {"name", "model", "data", "train"}; of maps alone {"name", "maps"}.
[[nodiscard]] nlohmann::json config_to_json(const Config& config);
[[nodiscard]] Config config_from_json(const nlohmann::json& json, const std::string& where);
// The same of a model that was trained, by whomever: where it names no data, none are known
// (data.source "").
[[nodiscard]] Config stored_config(const nlohmann::json& json, const std::string& where);
// Of a file that holds position biases alone.
[[nodiscard]] Config config_of_maps(MapsConfig maps);
// assets/presets/NAME.json; an unknown name is a usage Error that lists them all.
[[nodiscard]] Config load_preset(const std::string& name);
// A setting given there that its mixer or task does not read is a usage Error that names those that
// do (check_read); likewise in presets.
[[nodiscard]] Config load_config_file(const std::string& path);
// config.json of a run folder, which holds all settings: those that are not read do not count.
[[nodiscard]] Config load_run_config(const std::string& path);
struct PresetInfo {
    std::string name, sentence;
};
[[nodiscard]] std::vector<PresetInfo> list_presets();

}  // namespace aft
