// Figures: pictures for publication, made of stored models and runs. Room = one .cpp with one
// exported function `FigureRoom NAME_figure();`, listed in rooms.cpp. A room asks jobs for numbers
// and describes what is to be drawn; it decides by traits, never by a mixer's or a task's name. Any
// thread; blocks until done.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/figure/quantity.h"
#include "core/figure/scene.h"
#include "core/progress.h"
#include "core/rooms.h"
#include "model/jobs/figure_data.h"
#include "model/jobs/probe.h"

namespace aft::app {

struct FigureRequest {
    std::string figure = {};
    std::vector<std::string> models = {};          // checkpoints or run folders
    std::vector<int64_t> layers = {}, heads = {};  // empty: chosen by the room; order is kept
    std::string data, device = "cpu";              // data "" = what the model was trained on
    // index -1: examples spread over the part; limit 0: the room's own number of them
    int64_t index = -1, limit = 0;
    std::map<std::string, std::string> options = {};
};

// What a bar of the figure covers, for --json and tests.
struct FigureRange {
    std::string what = {};  // "layer 3"
    ValueSpan values = {};  // the least and the largest of all values
    Range colors = {};      // what the ends of the colours stand for
};

struct FigureResult {
    FigureScene scene = {};
    std::vector<FigureRange> ranges = {};
};

// What a room needs to know of a model to say whether it can show it.
struct FigureSubject {
    MixerTraits mixer = {};
    TaskTraits task = {};
    bool is_run = false;  // a run folder, which has a log
};

struct FigureRoom {
    RoomInfo info = {};
    std::string example = {};  // a command line that works
    std::vector<ProbeOption> options = {};
    size_t most_models = 1;
    bool is_comparison = false;  // says something of several models only
    bool takes_example = false;  // drawn of examples of the data: reads FigureRequest::index
    // Why it cannot show such a model, and which models it can; "" = it can. A sentence without its
    // full stop and without the model's name. make() refuses with these words.
    std::string (*why_not)(const FigureSubject& subject) = nullptr;
    FigureResult (*make)(const FigureRequest& request, const JobControl& control) = nullptr;
};

[[nodiscard]] const std::vector<FigureRoom>& figures();

// Finds the room, checks its options and the number of models, makes the figure. usage Errors name
// what was found and what is allowed, or why the model has nothing to show and which models have.
[[nodiscard]] FigureResult make_figure(const FigureRequest& request, const JobControl& control);

}  // namespace aft::app
