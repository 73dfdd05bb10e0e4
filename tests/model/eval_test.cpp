#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/caught.h"
#include "core/check.h"
#include "core/rng.h"
#include "model/checkpoints/checkpoint.h"
#include "model/data/baselines.h"
#include "model/data/chosen.h"
#include "model/data/loader.h"
#include "model/jobs.h"
#include "model/tasks/task.h"
#include "tests/model/scratch.h"

namespace aft {
namespace {

// A net with fresh weights of this config, as a checkpoint file.
void write_net(const std::filesystem::path& path, const ModelConfig& model,
               const nlohmann::json& data = {}) {
    Checkpoint checkpoint;
    checkpoint.config.model = model;
    checkpoint.data = data;
    const Net net(model, 3);
    for (const Parameter& parameter : net.parameters())
        checkpoint.weights.emplace_back(parameter.name, parameter.value.detach().clone());
    write_checkpoint(path, checkpoint);
}

ModelConfig small_model(const std::string& task) {
    ModelConfig model;
    model.task = task;
    model.mixer = task == "classify" ? "aft-conv2d" : "aft-full";
    model.dim = 8;
    model.own["factors"] = 4;
    if (task == "classify") {
        model.own["heads"] = 2;
        model.own["window"] = 3;
        model.height = model.width = 8;
        model.channels = 3;
        model.levels = 256;
        model.positions = "none";
    }
    model.height = model.width = 8;
    model.own["length"] = 32;
    return model;
}

struct EvalPart {
    int64_t limit = 0, stride = 0, batch = 0, index = -1;
};

EvalResult evaluate(const std::filesystem::path& model, const std::string& data,
                    EvalPart part = {}) {
    EvalRequest request;
    request.model = model.string();
    request.data = data;
    request.limit = part.limit;
    request.index = part.index;
    request.stride = part.stride;
    request.batch = part.batch;
    return eval_job(request, {});
}

TEST(Eval, pictures_have_bits_per_dim_the_floor_and_baselines) {
    const Scratch folder;
    const ModelConfig model = small_model("image");
    write_net(folder / "m.safetensors", model);
    const auto result = evaluate(folder / "m.safetensors", "mirror", {.limit = 40});
    EXPECT_EQ(result.task, "image");
    EXPECT_EQ(result.split, "test");
    EXPECT_EQ(result.examples, 40);
    EXPECT_EQ(result.tokens, 40 * 64);
    const double loss = result.loss_nats;
    EXPECT_EQ(result.metric, "bits_per_dim");
    EXPECT_NEAR(result.metric_value, loss / std::log(2.0), 1e-12);
    EXPECT_GT(result.metric_value, 3) << "an untrained net knows nothing: log2(16) = 4";
    EXPECT_NEAR(result.floor_bits.value(), *open_source("mirror?size=8", 1)->info().floor_bits,
                1e-12);
    EXPECT_LE(result.baselines.value().unigram, 4.0);
    const auto batched = evaluate(folder / "m.safetensors", "mirror", {.limit = 40, .batch = 7});
    EXPECT_NEAR(batched.loss_nats, loss, 1e-6);
    EXPECT_NE(evaluate(folder / "m.safetensors", "mirror?split=train", {.limit = 40}).loss_nats,
              loss);
}

TEST(Eval, chosen_examples_are_spread_over_all_of_a_part_or_in_a_row) {
    for (const auto& [size, count] : {std::pair<int64_t, int64_t>{1, 1},
                                      {10, 10},
                                      {10, 7},
                                      {4096, 64},
                                      {50000, 1000},
                                      {1 << 20, 3}}) {
        const ChosenExamples chosen{.size = size, .count = count};
        int64_t before = -1;
        for (int64_t place = 0; place < count; ++place) {
            const int64_t index = chosen.index(place);
            EXPECT_GT(index, before);
            EXPECT_GE(index, place * size / count);
            EXPECT_LT(index, (place + 1) * size / count);
            before = index;
        }
    }
    // Ten classes that take turns, and a step that would meet the same one each time.
    std::set<int64_t> classes;
    for (int64_t place = 0; place < 100; ++place)
        classes.insert(ChosenExamples{.size = 10000, .count = 100}.index(place) % 10);
    EXPECT_EQ(classes.size(), 10u);
    EXPECT_EQ((ChosenExamples{.size = 10, .count = 3, .first = 4}.index(2)), 6);
}

TEST(Eval, an_index_measures_a_row_of_examples) {
    const Scratch folder;
    write_net(folder / "m.safetensors", small_model("image"));
    const auto loss = [&](int64_t limit, int64_t index) {
        return evaluate(folder / "m.safetensors", "mirror", {.limit = limit, .index = index})
            .loss_nats;
    };
    EXPECT_NEAR(loss(2, 5), (loss(1, 5) + loss(1, 6)) / 2, 1e-6);
    EXPECT_NE(loss(2, 5), loss(2, -1));
    const std::string words = error_words([&] { static_cast<void>(loss(1, 4096)); });
    EXPECT_NE(words.find("--index 4096: the examples of data 'mirror' are 0 to 4095"),
              std::string::npos)
        << words;
    EXPECT_EQ(evaluate(folder / "m.safetensors", "mirror", {.limit = 9, .index = 4090}).examples,
              6);
}

TEST(Eval, without_data_those_of_the_model_are_measured) {
    const Scratch folder;
    write_net(folder / "m.safetensors", small_model("image"));
    Checkpoint checkpoint = read_checkpoint(folder / "m.safetensors");
    checkpoint.config.data.source = "mirror?size=8";
    write_checkpoint(folder / "own.safetensors", checkpoint);
    const auto own = evaluate(folder / "own.safetensors", "", {.limit = 4});
    EXPECT_EQ(own.data, "mirror?size=8");
    EXPECT_NE(own.note.find("its own"), std::string::npos) << own.note;
    EXPECT_EQ(own.loss_nats,
              evaluate(folder / "m.safetensors", "mirror?size=8", {.limit = 4}).loss_nats);
    checkpoint.config.data.source = "";
    write_checkpoint(folder / "none.safetensors", checkpoint);
    const std::string words = error_words(
        [&] { static_cast<void>(evaluate(folder / "none.safetensors", "", {.limit = 4})); });
    EXPECT_NE(words.find("none.safetensors: names no data"), std::string::npos) << words;
    EXPECT_NE(words.find("--data SPEC"), std::string::npos) << words;
}

TEST(Eval, classification_has_accuracy) {
    const Scratch folder;
    write_net(folder / "m.safetensors", small_model("classify"));
    const auto result = evaluate(folder / "m.safetensors", "shapes", {.limit = 60});
    EXPECT_EQ(result.metric, "accuracy");
    const double right = result.metric_value * 60;
    EXPECT_NEAR(right, std::round(right), 1e-9);
    EXPECT_FALSE(result.floor_bits);
    EXPECT_EQ(result.tokens, 60);
}

class EvalText : public testing::Test {
  protected:
    void SetUp() override {
        std::string text;
        CounterRng rng(1, 2);
        for (int i = 0; i < 3000; ++i) text += "abcdef"[rng.below(6)];
        put(folder / "t", text);
        model = small_model("text");
        model.levels = 6;
        write_net(folder / "m.safetensors", model, {{"alphabet", {97, 98, 99, 100, 101, 102}}});
        spec = "text:" + (folder / "t").string();
    }
    Scratch folder;
    ModelConfig model;
    std::string spec;
};

TEST_F(EvalText, every_byte_counts_once_whatever_the_stride) {
    const auto plain = evaluate(folder / "m.safetensors", spec);
    EXPECT_EQ(plain.tokens, 150);  // 5 % of 3000, in 4 windows of 32 and one of 22
    EXPECT_EQ(plain.examples, 5);
    for (int64_t stride : {3, 31, 32}) {
        const auto result = evaluate(folder / "m.safetensors", spec, {.stride = stride});
        EXPECT_EQ(result.tokens, 150) << stride;
    }
    EXPECT_EQ(evaluate(folder / "m.safetensors", spec, {.stride = 32}).loss_nats, plain.loss_nats);
    EXPECT_EQ(evaluate(folder / "m.safetensors", spec, {.limit = 2, .index = 1}).tokens, 64);
}

// The same sum, byte by byte: position t of a window of its own.
TEST_F(EvalText, a_stride_gives_each_byte_the_longest_context_it_may_have) {
    const c10::NoGradGuard no_grad;
    const Net net(model, 3);
    const auto source = open_source(spec + "?alphabet=used", 1, 32);
    double nats = 0;
    for (int64_t at = 0; at < 50; ++at) {
        const int64_t start = at < 32 ? 0 : at - 31;
        const auto values = source->window(Split::test, start, at - start + 1).values;
        const at::Tensor tokens = at::tensor(values, at::kByte).to(at::kLong).unsqueeze(0);
        const at::Tensor logits = net.forward(tokens, {})[0][at - start];
        nats -= logits.to(at::kDouble).log_softmax(0)[values.back()].item<double>();
    }
    EXPECT_NEAR(
        evaluate(folder / "m.safetensors", spec, {.limit = 19, .stride = 1, .index = 0}).loss_nats,
        nats / 50, 1e-5);
}

TEST_F(EvalText, a_byte_outside_the_alphabet_and_wrong_flags_are_errors) {
    put(folder / "other", std::string(1000, 'a') + "z");
    EXPECT_TRUE(has(error_of([&] {
                        (void)evaluate(folder / "m.safetensors",
                                       "text:" + (folder / "other").string());
                    }),
                    "byte 122"));
    EXPECT_TRUE(
        has(error_of([&] { (void)evaluate(folder / "m.safetensors", spec, {.stride = 33}); }),
            "1 to 32"));
    EXPECT_TRUE(has(error_of([&] { (void)evaluate(folder / "m.safetensors", "mirror"); }), "text"));
    EXPECT_TRUE(has(error_of([&] { (void)evaluate(folder / "none", spec); }), "none"));
}

// A test part that holds no whole window is no sample's part, but what it holds is measured.
TEST_F(EvalText, a_short_test_part_is_measured_rather_than_what_was_trained_on) {
    // 150 bytes of test part; 32, one window; 31, none.
    const std::pair<int, std::string> cases[] = {{3000, "test"}, {631, "test"}, {611, "train"}};
    for (const auto& [bytes, part_of_samples] : cases) {
        std::string text;
        for (int i = 0; i < bytes; ++i) text += "abcdef"[i * i % 6];
        put(folder / "short", text);
        const std::string short_spec = "text:" + (folder / "short").string();
        const auto source = open_source(short_spec + "?alphabet=616263646566", 1, 32);
        const auto result = evaluate(folder / "m.safetensors", short_spec);
        EXPECT_EQ(result.split, "test") << bytes;
        EXPECT_EQ(result.tokens, source->text_size(Split::test));
        EXPECT_EQ(result.note, "");
        EXPECT_EQ(split_name(usual_split(*source)), part_of_samples) << bytes;
        EXPECT_EQ(evaluate(folder / "m.safetensors", short_spec + "?split=train").split, "train");
    }
}

TEST_F(EvalText, a_stop_ends_the_job) {
    std::stop_source stop;
    stop.request_stop();
    JobControl control;
    control.stop = stop.get_token();
    EXPECT_THROW(
        (void)eval_job({.model = (folder / "m.safetensors").string(), .data = spec}, control),
        Interrupted);
}

TEST(Tasks, losses_are_the_mean_of_minus_log_p_and_smoothing_mixes_in_the_uniform) {
    const c10::NoGradGuard no_grad;
    const auto shapes = open_source("shapes?size=8", 1);
    ModelConfig model = small_model("classify");
    const Net net(model, 3);
    const Batch batch = load_batch(*shapes, model, {Split::train, 0, 9});
    const TaskRoom& task = task_of(model);
    const at::Tensor logs = net.forward(batch.input, {}).to(at::kDouble).log_softmax(-1);
    const at::Tensor truth = logs.gather(1, batch.target.unsqueeze(1)).mean();
    EXPECT_NEAR(task.evaluate(net, batch, {}, {}).loss.item<double>(), -truth.item<double>(), 1e-5);
    RoomSettings smoothing;
    smoothing["label_smoothing"] = 0.1;
    EXPECT_NEAR(task.evaluate(net, batch, {}, smoothing).loss.item<double>(),
                -0.9 * truth.item<double>() - 0.1 * logs.mean().item<double>(), 1e-5);
    for (const TaskRoom& room : tasks()) {
        EXPECT_FALSE(room.info.sentence.empty());
        EXPECT_NE(room.evaluate, nullptr);
    }
}

// A ramp: every pixel is its left neighbour plus one, so that the difference costs nothing but the
// first column, and the values themselves log2(8) bits.
class Ramp : public DataSource {
  public:
    Ramp() {
        info_.height = info_.width = 8;
        info_.channels = 1;
    }
    [[nodiscard]] const DataInfo& info() const override { return info_; }
    [[nodiscard]] int64_t size(Split) const override { return 4; }
    [[nodiscard]] Example example(Split, int64_t) const override {
        Example out;
        for (int y = 0; y < 8; ++y)
            for (int x = 0; x < 8; ++x) out.values.push_back(static_cast<uint8_t>(x + 1));
        return out;
    }

  private:
    DataInfo info_;
};

TEST(Baselines, a_ramp_has_the_entropies_of_its_definition) {
    const Baselines found = measure_baselines(Ramp(), Split::test, {.size = 4, .count = 4}, {});
    EXPECT_NEAR(found.unigram, 3, 1e-12);
    // 7 of 8 differences are 1, that of the first column is 1 - 128.
    const double p = 7.0 / 8;
    EXPECT_NEAR(found.left_neighbour, -p * std::log2(p) - (1 - p) * std::log2(1 - p), 1e-12);
}

TEST(Baselines, cifar10_at_16_pixels_gives_the_published_figures) {
    const auto folder = real_data("cifar10");
    if (!std::filesystem::exists(folder / "test_batch.bin"))
        GTEST_SKIP() << "no CIFAR-10 in " << folder;
    const auto source = open_source("cifar10:" + folder.string() + "?size=16", 1);
    const int64_t size = source->size(Split::test);
    const Baselines found =
        measure_baselines(*source, Split::test, {.size = size, .count = size}, {});
    EXPECT_NEAR(found.unigram, 7.886, 0.001);
    EXPECT_NEAR(found.left_neighbour, 6.705, 0.001);
    EXPECT_NEAR(found.previous_sub_pixel, 7.029, 0.001);
    EXPECT_NEAR(found.median_edge, 5.200, 0.001);
}

}  // namespace
}  // namespace aft
