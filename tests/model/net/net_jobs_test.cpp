// inspect and run, through the plain interface of jobs.h.
#include <gtest/gtest.h>

#include <cmath>

#include "core/check.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/format.h"
#include "model/device.h"
#include "model/jobs.h"
#include "tests/core/scratch.h"
#include "tests/model/net/small_nets.h"

namespace aft {
namespace {

TEST(NetJobs, InspectCountsAndMeasures) {
    Config config = load_preset("demo-mirror");
    const InspectResult result = inspect_preset(config);
    EXPECT_EQ(result.parameters, parameter_count(Net(config.model, 1, at::kMeta).parameters()));
    EXPECT_EQ(result.parameters_per_layer.size(), 2u);
    EXPECT_EQ(result.config.model.task, "image");
    EXPECT_FALSE(result.stored);
    int64_t total = 0;
    for (const TensorSummary& tensor : result.tensors) {
        int64_t count = 1;
        for (const int64_t extent : tensor.shape) count *= extent;
        total += count;
    }
    EXPECT_EQ(result.parameters, total);
    ASSERT_EQ(result.bias.size(), 2u);
    // w = u r^T with 64 factors of variance 0.01 each: standard deviation 0.08 over T (T + 1) / 2
    // visible cells.
    EXPECT_NEAR(result.bias[1].norm, 0.08 * std::sqrt(256 * 257 / 2.0), 2);
    config = load_preset("mnist-small");
    EXPECT_EQ(inspect_preset(config).bias.size(), 3u * 32u) << "one row per layer and head";
}

TEST(NetJobs, TooLittleMemoryNamesARemedy) {
    const auto words_of = [](const std::function<void()>& work) -> std::string {
        try {
            with_plain_errors(work);
        } catch (const Error& error) {
            return error.what();
        }
        return "no error";
    };
    const auto check = [](const std::string& words) {
        EXPECT_TRUE(words.starts_with("out of memory: ")) << words;
        EXPECT_NE(words.find("smaller train.micro_batch"), std::string::npos) << words;
        EXPECT_EQ(words.find('\n'), std::string::npos) << words;
    };
    check(words_of([] { throw std::bad_alloc(); }));
#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // whose allocator ends the program
    check(words_of([] { (void)at::empty({int64_t{1} << 48}); }));
#endif
    check(plain_words(std::runtime_error("the driver says: out of memory")));
    check(plain_words(Error(words_of([] { throw std::bad_alloc(); }))));
    const std::string once = plain_words(Error("out of memory: once"));
    EXPECT_EQ(once, "out of memory: once");
    EXPECT_EQ(words_of([] { at::ones({2}).add_(at::ones({3})); }).find("out of memory"),
              std::string::npos);
    EXPECT_EQ(plain_words(std::runtime_error("not allocated yet")), "not allocated yet");
}

// A net on disk and in memory.
struct Saved {
    Net net;
    std::string path;
};

Saved save(const ModelConfig& model, const Scratch& folder) {
    Net net(model, 3);
    shake(net, 0.3, 5);
    Checkpoint checkpoint;
    checkpoint.config.model = model;
    for (const Parameter& p : net.parameters())
        checkpoint.weights.emplace_back(p.name, p.value.detach());
    const std::string path = (folder / "model.safetensors").string();
    write_checkpoint(path, checkpoint);
    return {std::move(net), path};
}

struct FilePair {
    std::string in, out;
};

FilePair write_input(const Scratch& folder, const std::string& name, const at::Tensor& value) {
    const FilePair files{(folder / "in.safetensors").string(),
                         (folder / "out.safetensors").string()};
    write_tensors(files.in, {.tensors = {{name, value}}, .metadata = {}});
    return files;
}

TEST(NetJobs, RunAnswersWhatTheNetAnswers) {
    for (const NetCase& c : small_cases()) {
        SCOPED_TRACE(c.label);
        const at::NoGradGuard no_gradients;
        const Scratch folder;
        const Saved saved = save(c.config, folder);
        const bool classify = c.config.task == "classify";
        const at::Tensor input = input_for(c.config, 2, 7);
        FilePair files = write_input(folder, classify ? "image" : "tokens", input);
        static_cast<void>(
            run_job({.model = saved.path, .in = files.in, .out = files.out, .part = ""}));
        const at::Tensor expected =
            classify ? saved.net.forward(input, {}) : saved.net.forward_fed(input, {});
        EXPECT_TRUE(at::equal(*read_tensors(files.out).find("logits"), expected));

        const at::Tensor x = at::randn({2, c.config.tokens(), c.config.dim});
        files = write_input(folder, "x", x);
        for (const char* part : {"mixer", "block"}) {
            static_cast<void>(run_job(
                {.model = saved.path, .in = files.in, .out = files.out, .part = part, .layer = 1}));
            const bool whole = part == std::string("block");
            EXPECT_TRUE(at::equal(*read_tensors(files.out).find("y"),
                                  saved.net.forward_layer(1, whole, x)));
        }
    }
}

TEST(NetJobs, RunRefusesWhatDoesNotFit) {
    const Scratch folder;
    const Saved saved = save(small_config("aft-full", "image"), folder);
    const auto refusal = [&](const FilePair& files, const std::string& part, int64_t layer) {
        return error_of([&] {
            static_cast<void>(run_job({.model = saved.path,
                                       .in = files.in,
                                       .out = files.out,
                                       .part = part,
                                       .layer = layer}));
        });
    };
    const FilePair x = write_input(folder, "x", at::randn({1, 4, 8}));
    EXPECT_TRUE(has(refusal(x, "", -1), "needs a tensor 'tokens', found: x"));
    EXPECT_TRUE(has(refusal(x, "block", 2), "allowed: 0 to 1"));
    EXPECT_TRUE(has(refusal(x, "row", 0), "mixer, block"));
    const FilePair narrow = write_input(folder, "x", at::randn({1, 4, 7}));
    EXPECT_TRUE(has(refusal(narrow, "mixer", 0), narrow.in));
    const FilePair floats = write_input(folder, "tokens", at::randn({1, 4}));
    EXPECT_TRUE(has(refusal(floats, "", -1), "int64"));
    EXPECT_FALSE(std::filesystem::exists(x.out));
}

TEST(NetJobs, InspectReadsAFile) {
    const Scratch folder;
    const Saved saved = save(small_config("aft-conv2d", "classify"), folder);
    const InspectResult result = inspect_job(saved.path);
    EXPECT_EQ(result.parameters, parameter_count(saved.net.parameters()));
    ASSERT_TRUE(result.stored);
    EXPECT_EQ(result.stored->file, saved.path);
    EXPECT_TRUE(result.stored->metrics.empty());
    ASSERT_EQ(result.bias.size(), 4u) << "two layers, two heads";
    const at::Tensor w = saved.net.mixer(1).bias(16)->select(0, 1);
    EXPECT_NEAR(result.bias[3].max, w.max().item<double>(), 1e-6);
    EXPECT_NEAR(result.bias[3].norm, w.norm().item<double>(), 1e-5);
}

}  // namespace
}  // namespace aft
