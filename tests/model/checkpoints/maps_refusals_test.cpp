// Maps alone, what is refused: descriptions and tensors that do not fit, and work that needs a
// whole model. Each is one short error that names the file and the key or the tensor.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/outside.h"
#include "model/jobs.h"
#include "model/tasks/task.h"
#include "tests/model/checkpoints/opened_maps.h"

namespace aft {
namespace {

// What is said of a file whose description or tensors are changed.
template <class Change>
std::string refused(const Change& change) {
    const Scratch folder;
    nlohmann::json description = maps_description(mixed_maps());
    std::vector<MapsTensor> tensors = mixed_tensors();
    change(description, tensors);
    put_maps(folder / "maps.safetensors", description, tensors);
    std::string message = error_of([&] { (void)read_checkpoint(folder / "maps.safetensors"); });
    EXPECT_TRUE(message.starts_with((folder / "maps.safetensors").string())) << message;
    EXPECT_EQ(message, printable_line(message));
    EXPECT_LT(message.size(), 700U) << message;
    return message;
}

template <class Change>
std::string refused_layer(size_t layer, const Change& change) {
    return refused([&](nlohmann::json& d, auto&) { change(d["maps"]["layers"][layer]); });
}

TEST(MapsRefusals, NameTheKey) {
    using nlohmann::json;
    const auto says = [](const std::string& message, const std::vector<std::string>& parts) {
        for (const std::string& part : parts) EXPECT_TRUE(has(message, part)) << message;
    };
    says(refused_layer(1, [](json& l) { l["layout"] = "diagonal"; }),
         {"maps.layers[1].layout", "'diagonal'", "kernel2d"});
    says(refused_layer(1, [](json& l) { l["gauge"] = "column"; }),
         {"layers[1].gauge", "row, none"});
    says(refused_layer(2, [](json& l) { l.erase("grid"); }), {"layers[2]", "'grid' is missing"});
    says(refused_layer(0, [](json& l) { l["scale"] = 2; }), {"layers[0]", "unknown key 'scale'"});
    says(refused_layer(0, [](json& l) { l["name"] = "a\x1b[2J"; }), {"layers[0].name", "control"});
    says(refused_layer(0, [](json& l) { l["name"] = ""; }), {"layers[0].name"});
    says(refused_layer(0, [](json& l) { l["name"] = 3; }), {"layers[0].name", "text"});
    for (const json& grid : {json(4), json::array(), json::array({0}), json::array({-4}),
                             json::array({2.5}), json::array({"4"}), json::array({1, 2, 2, 1}),
                             json::array({1 << 20}), json::array({1 << 10, 1 << 10})})
        says(refused_layer(0, [&](json& l) { l["grid"] = grid; }), {"layers[0].grid", "[H, W, C]"});
    says(refused_layer(4, [](json& l) { l["grid"] = json::array({8}); }),
         {"layers[4].grid", "kernel2d"});
    says(refused([](json& d, auto&) { d["maps"]["layers"] = json::array(); }), {"0 layers"});
    says(refused([](json& d, auto&) { d["maps"]["layers"] = json(std::vector<int>(4097)); }),
         {"4097 layers", "4096"});
    says(refused([](json& d, auto&) { d["maps"]["layers"] = 3; }), {"maps.layers", "array"});
    says(refused([](json& d, auto&) { d["maps"]["causal"] = "yes"; }), {"maps.causal", "true"});
    says(refused([](json& d, auto&) { d["maps"]["w"] = 1; }), {"maps", "unknown key 'w'"});
    says(refused([](json& d, auto&) { d["maps"] = 4; }), {"maps", "object"});
    says(refused([](json& d, auto&) { d["task"] = "image"; }), {"task", "maps"});
    says(refused([](json& d, auto&) { d["config"] = json::object(); }), {"'config'", "'maps'"});
    says(refused([](json& d, auto&) { d["training"] = json::object(); }), {"'training'"});
    says(refused([](json& d, auto&) { d.erase("maps"); }), {"config", "maps"});
    says(refused([](json& d, auto&) { d["step"] = -1; }), {"step", "-1"});
    says(refused([](json& d, auto&) {
             d["config"] = {{"name", "a"}, {"maps", d["maps"]}};
             d.erase("maps");
         }),
         {"'maps'", "config"});
}

TEST(MapsRefusals, NameTheTensor) {
    using Tensors = std::vector<MapsTensor>;
    const auto of_tensors = [](const auto& change) {
        return refused([&](nlohmann::json&, Tensors& tensors) { change(tensors); });
    };
    const auto with = [&](size_t i, std::vector<int64_t> shape) {
        return of_tensors([&](Tensors& t) { t[i] = counted_tensor(t[i].name, shape); });
    };
    for (const auto& [layer, shape] :
         std::vector<std::pair<size_t, std::vector<int64_t>>>{{0, {4, 5}},
                                                              {0, {16}},
                                                              {0, {1, 1, 4, 4}},
                                                              {0, {3, 3}},
                                                              {1, {2, 6, 5}},
                                                              {1, {0, 6, 6}},
                                                              {2, {5, 3}},
                                                              {2, {2, 4, 3}},
                                                              {2, {2, 5, 4}},
                                                              {2, {2, 5, 0}},
                                                              {3, {3, 2}},
                                                              {3, {3}},
                                                              {3, {3, 3, 3}},
                                                              {4, {1, 3, 5}},
                                                              {4, {1, 2, 2}},
                                                              {4, {3, 3}}}) {
        const std::string message = with(layer, shape);
        EXPECT_TRUE(has(message, "biases." + std::to_string(layer))) << message;
        EXPECT_TRUE(has(message, "has shape [")) << message;
    }
    EXPECT_TRUE(has(with(3, {4097, 3}), "heads"));
    const std::string many = refused([](nlohmann::json& description, Tensors& tensors) {
        tensors.assign(1, counted_tensor("biases.0", {4096, 1}));
        std::vector<nlohmann::json> layers(17, map_entry("a", "kernel1d", {4}));
        for (size_t i = 1; i < layers.size(); ++i)
            tensors.push_back(counted_tensor("biases." + std::to_string(i), {1, 1}));
        description["maps"] = maps_of(layers);
    });
    EXPECT_TRUE(has(many, "17 layers of up to 4096 heads")) << many;
    EXPECT_TRUE(has(of_tensors([](Tensors& t) { t.pop_back(); }), "'biases.4' is missing"));
    const std::string extra =
        of_tensors([](Tensors& t) { t.push_back(counted_tensor("biases.5", {2, 2})); });
    EXPECT_TRUE(has(extra, "'biases.5' belongs to no layer")) << extra;
    const std::string state =
        of_tensors([](Tensors& t) { t.push_back(counted_tensor("optim.steps", {1})); });
    EXPECT_TRUE(has(state, "'optim.steps'")) << state;
    const std::string nan = of_tensors([](Tensors& t) { t[1].values[7] = std::nanf(""); });
    EXPECT_TRUE(has(nan, "'biases.1' holds NaN (value 7 of 72)")) << nan;
    const std::string infinite =
        of_tensors([](Tensors& t) { t[2].values[0] = std::numeric_limits<float>::infinity(); });
    EXPECT_TRUE(has(infinite, "'biases.2' holds +inf")) << infinite;
}

TEST(MapsRefusals, SayThatAWholeModelIsNeeded) {
    const OpenedMaps maps(plain_maps(), plain_tensors());
    const std::string file = maps.file().string();
    const auto refuses = [&](const std::string& work, const auto& call) {
        const std::string message = error_of(call);
        const std::string want = file + ": holds position biases alone: " + work + " needs a whole";
        EXPECT_TRUE(message.starts_with(want)) << message;
    };
    refuses("complete", [&] {
        CompleteRequest request;
        request.model = file;
        request.out = (maps.folder / "out").string();
        (void)complete_job(request, {});
    });
    refuses("eval", [&] {
        EvalRequest request;
        request.model = file;
        request.data = "mirror";
        (void)eval_job(request, {});
    });
    refuses("run", [&] {
        RunRequest request;
        request.model = file;
        request.in = request.out = file + ".none";
        (void)run_job(request);
    });
    for (const char* const name : {"priors", "attention", "predictions"})
        refuses(std::string("probe ") + name, [&] {
            ProbeJob job;
            job.probe = name;
            job.model = file;
            job.out = (maps.folder / "p.npy").string();
            (void)probe_job(job, {});
        });
    EXPECT_TRUE(has(error_of([&] { (void)maps.probe("priors", 0); }), "position biases alone"));
    EXPECT_THROW((void)make_net(maps.checkpoint).forward(at::zeros({1, 4}, at::kLong), {}), Error);
    EXPECT_THROW((void)make_net(maps.checkpoint).forward_layer(0, false, at::zeros({1, 4, 0})),
                 Error);
    ModelConfig settings;
    settings.task = "maps";
    EXPECT_TRUE(has(error_of([&] { settings.check(); }), "model.task=maps"));
    EXPECT_TRUE(has(error_of([&] { check_trainable(settings); }), "cannot be trained"));
}

}  // namespace
}  // namespace aft
