// Requests: what the window or a command asks of a model. Plain types. No LibTorch. Any thread.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/recipe.h"

namespace aft {

class RankGroup;
struct Completion;

struct OpenRequest {
    std::string path;  // checkpoint or run folder; empty = new run from config
    std::optional<Config> config;
    std::string out;  // run folder of a new run; empty = runs/NAME-N
    std::string device = "cpu";
    RankGroup* ranks = nullptr;  // of whom this process is the leader; outlives the session
    bool autostart = false;
};

// What a panel wants to see. The answer is cached by (step, this request).
struct ProbeRequest {
    std::string probe;  // room of model/probe: "bias", "kernel", "attention", ...
    int64_t step = -1;  // -1 = live (newest snapshot); else the nearest stored step
    int64_t layer = 0, head = -1, channel = -1, position = 0;
    std::map<std::string, std::string> options;  // the probe's own, probe_list() of jobs.h
    // The input sequence (image levels or text tokens); empty = none needed.
    std::vector<uint8_t> tokens;
    // Of probes that take many inputs: their labels, one each; tasks with classes.
    std::vector<int64_t> labels = {};
    Recipe recipe = {};  // the weights as it changes them
    [[nodiscard]] bool operator==(const ProbeRequest&) const = default;
};

struct SampleOptions {
    int64_t samples = 4, top_k = 0, particles = 1;
    double temperature = 1, top_p = 1;
    uint64_t seed = 1;
    std::string weights = "fp32";  // of the decoder: fp32, bf16, int8 (aft-simple, -local, -full)
    [[nodiscard]] bool operator==(const SampleOptions&) const = default;
};

struct CompletionRequest {
    std::vector<uint8_t> tokens;   // known values; ignored where `unknown`
    std::vector<uint8_t> unknown;  // 1 = to be filled, length T (text: prompt length + N)
    SampleOptions sample;
    int64_t step = -1;
    Recipe recipe = {};  // the weights as it changes them
    // continue: keep all before it from `continued`, change `forced` there.
    int64_t from_position = -1;
    int64_t from_sample = 0;
    int64_t forced = -1;  // value put at from_position, -1 = sample it
    std::shared_ptr<const Completion> continued = nullptr;  // null: the newest one
};

}  // namespace aft
