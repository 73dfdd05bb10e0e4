// The jobs complete and probe: files, results and refusals, on a stored model.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/figure/glyphs.h"
#include "core/files.h"
#include "core/images/image.h"
#include "model/checkpoints/checkpoint.h"
#include "model/decode/decode.h"
#include "model/decode/input.h"
#include "model/decode/picture.h"
#include "model/jobs.h"
#include "tests/core/read_npy.h"
#include "tests/model/net/tiny_nets.h"
#include "tests/model/train/train_fixtures.h"

namespace aft {
namespace {

std::string store(const Scratch& folder, const ModelConfig& model) {
    Checkpoint checkpoint;
    checkpoint.config.model = model;
    checkpoint.step = 5;
    if (model.task == "text") checkpoint.data = {{"alphabet", {10, 32, 97, 98, 99, 100, 101, 102}}};
    const Net net = tiny_net(model);
    for (const Parameter& parameter : net.parameters())
        checkpoint.weights.emplace_back(parameter.name, parameter.value);
    const std::string path = (folder / (model.task + ".safetensors")).string();
    write_checkpoint(path, checkpoint);
    return path;
}

// 8 x 4 pixels: the middle is cut out, the rest averages to 4 x 4.
std::string store_picture(const Scratch& folder) {
    Image image{8, 4, 1, std::vector<uint8_t>(32)};
    for (size_t i = 0; i < 32; ++i) image.pixels[i] = static_cast<uint8_t>(8 * i);
    const std::string path = (folder / "in.png").string();
    write_png(path, image);
    return path;
}

CompleteRequest picture_job(const Scratch& folder) {
    CompleteRequest job;
    job.model = store(folder, tiny_model("aft-full", "image"));
    job.image = store_picture(folder);
    job.keep_rows = 2;
    job.sample.samples = 3;
    job.out = (folder / "out").string();
    return job;
}

TEST(CompleteJob, WritesSamplesAndGrid) {
    const Scratch folder;
    const CompleteRequest job = picture_job(folder);
    const CompleteResult result = complete_job(job, {});
    EXPECT_EQ(result.filled, 8);
    EXPECT_EQ(result.step, 5);
    EXPECT_LT(result.original_log_likelihood_nats.value(), 0);
    EXPECT_EQ(result.grid, (folder / "out/grid.png").string());
    EXPECT_TRUE(fs::exists(result.grid));
    ASSERT_EQ(result.samples.size(), 3u);
    const Net net = make_net(read_checkpoint(job.model));
    for (int i = 0; i < 3; ++i) {
        const CompletedSample& done = result.samples[static_cast<size_t>(i)];
        EXPECT_EQ(done.file, (folder / fmt::format("out/sample-{}.png", i)).string());
        EXPECT_FALSE(done.text);
        const Image sample = read_image(done.file);
        ASSERT_EQ(sample.width, 4);
        ASSERT_EQ(sample.height, 4);
        std::vector<uint8_t> tokens, unknown(16, 0);
        std::fill(unknown.begin() + 8, unknown.end(), uint8_t{1});
        for (size_t k = 0; k < 16; ++k) {
            const uint8_t drawn = sample.pixels[k];
            tokens.push_back(static_cast<uint8_t>(std::lround(drawn * 7 / 255.0)));
            EXPECT_EQ(std::lround(255.0 * tokens[k] / 7), drawn);
            // Known rows: columns 2 to 5 of the input, value 8 i, 8 levels.
            if (k < 8) {
                EXPECT_EQ(tokens[k], 8 * (k / 4 * 8 + k % 4 + 2) * 8 / 256);
            }
        }
        const double nats = log_likelihood(net, tokens, unknown);
        EXPECT_NEAR(done.log_likelihood_nats, nats, 1e-4);
        EXPECT_NEAR(done.bits_per_filled, -nats / std::log(2.0) / 8, 1e-4);
    }
}

TEST(CompleteJob, TheGridHasAsFewEmptyPlacesAsItCan) {
    const Scratch folder;
    CompleteRequest job = picture_job(folder);
    constexpr int64_t kPitch = 66;  // 64 pixels and a gap; a gap before the first
    // Samples, then columns and rows of a grid that has the input too.
    const int64_t cases[][3] = {{1, 2, 1}, {2, 3, 1}, {3, 2, 2},  {4, 5, 1},
                                {5, 3, 2}, {6, 4, 2}, {11, 4, 3}, {16, 6, 3}};
    for (const auto& [samples, columns, rows] : cases) {
        job.sample.samples = samples;
        (void)complete_job(job, {});
        const Image grid = read_image(folder / "out/grid.png");
        EXPECT_EQ(grid.width, columns * kPitch + 2) << samples;
        EXPECT_EQ(grid.height, rows * kPitch + 2) << samples;
        for (int64_t i = samples + 1; i < columns * rows; ++i)  // nothing is drawn there
            for (int64_t y = i / columns * kPitch; y < grid.height; ++y)
                for (int64_t x = i % columns * kPitch + 2; x < grid.width; ++x)
                    ASSERT_EQ(grid.pixels[size_t(y * grid.width + x)], 21) << x << ", " << y;
    }
}

TEST(CompleteJob, OnePngAndAMask) {
    const Scratch folder;
    CompleteRequest job = picture_job(folder);
    job.sample.samples = 1;
    job.keep_rows = -1;
    job.out = (folder / "one.png").string();
    Image mask{4, 4, 1, std::vector<uint8_t>(16, 0)};
    mask.pixels[5] = 1;
    job.mask = (folder / "mask.png").string();
    write_png(job.mask, mask);
    const CompleteResult result = complete_job(job, {});
    EXPECT_EQ(result.filled, 1);
    EXPECT_EQ(result.samples.at(0).file, job.out);
    EXPECT_EQ(result.grid, "");
    EXPECT_EQ(read_image(job.out).width, 4);
    EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST(CompleteJob, TextContinuesAPrompt) {
    const Scratch folder;
    CompleteRequest job;
    job.model = store(folder, tiny_model("aft-simple", "text"));
    job.prompt = "abc";
    job.length = 20;
    job.sample.samples = 2;
    CompleteResult result = complete_job(job, {});
    const std::string text = result.samples.at(1).text.value();
    EXPECT_EQ(text.substr(0, 3), "abc");
    EXPECT_EQ(text.size(), 23u);
    EXPECT_EQ(text.find_first_not_of("\n abcdef"), std::string::npos);
    job.prompt = std::string(30, 'a') + "bcd";
    result = complete_job(job, {});
    EXPECT_NE(result.note.find("last 11"), std::string::npos);
    EXPECT_EQ(result.samples.at(0).text.value().substr(0, 11), "aaaaaaaabcd");
    job.prompt = "xyz";
    EXPECT_NE(error_of([&] { (void)complete_job(job, {}); }).find("120"), std::string::npos);
}

// From nothing: what the window asks for when its prompt is empty, with the same random numbers.
TEST(CompleteJob, AnEmptyPromptContinuesFromNothing) {
    const Scratch folder;
    CompleteRequest job;
    job.model = store(folder, tiny_model("aft-full", "text"));
    job.prompt = "";
    job.length = 30;  // past the model's 12
    job.sample.samples = 3;
    job.sample.seed = 8;
    const CompleteResult result = complete_job(job, {});
    EXPECT_EQ(result.filled, 30);
    const Checkpoint checkpoint = read_checkpoint(job.model);
    const Net net = make_net(checkpoint);
    CompletionRequest request;
    request.tokens.assign(30, 0);
    request.unknown.assign(30, 1);
    request.sample = job.sample;
    const Completion wanted = run_completion(net, request, {}, {});
    for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(result.samples.at(i).text,
                  tokens_text(wanted.samples[i], alphabet_of(checkpoint)));
        EXPECT_EQ(result.samples.at(i).log_likelihood_nats, wanted.log_likelihood[i]);
    }
    job.length = 12;  // all the model sees: its likelihood is that of the whole text
    const std::vector<uint8_t> tokens =
        text_tokens(complete_job(job, {}).samples.at(0).text.value(), alphabet_of(checkpoint));
    EXPECT_NEAR(complete_job(job, {}).samples.at(0).log_likelihood_nats,
                log_likelihood(net, tokens, std::vector<uint8_t>(12, 1)), 1e-4);
    job.model = store(folder, tiny_model("aft-full", "image"));
    EXPECT_NE(error_of([&] { (void)complete_job(job, {}); }).find("takes no prompt"),
              std::string::npos);
}

TEST(CompleteJob, ReducedWeightsSayWhatTheyCost) {
    const Scratch folder;
    CompleteRequest job = picture_job(folder);
    EXPECT_FALSE(complete_job(job, {}).weights_cost_bits_per_dim);
    for (const std::string weights : {"bf16", "int8"}) {
        job.sample.weights = weights;
        const CompleteResult result = complete_job(job, {});
        EXPECT_EQ(result.sample.weights, weights);
        const double cost = result.weights_cost_bits_per_dim.value();
        EXPECT_LT(std::abs(cost), 0.1);
        EXPECT_NE(cost, 0);
    }
    job.sample.weights = "fp8";
    EXPECT_NE(error_of([&] { (void)complete_job(job, {}); }).find("fp32, bf16, int8"),
              std::string::npos);
}

TEST(CompleteJob, RefusalsNameTheFlagOrFile) {
    const Scratch folder;
    const CompleteRequest good = picture_job(folder);
    const auto words = [&](const std::function<void(CompleteRequest&)>& change) {
        CompleteRequest job = good;
        change(job);
        return error_of([&] { (void)complete_job(job, {}); });
    };
    EXPECT_NE(words([](auto& j) { j.keep_rows = 4; }).find("--keep-rows"), std::string::npos);
    EXPECT_NE(words([](auto& j) { j.image = "none.png"; }).find("none.png"), std::string::npos);
    EXPECT_NE(words([](auto& j) { j.model = "none.model"; }).find("none.model"), std::string::npos);
    EXPECT_NE(words([&](auto& j) { j.mask = j.image; }).find("8 x 4"), std::string::npos);
    EXPECT_NE(words([](auto& j) { j.out = "x.png"; }).find("--samples 3"), std::string::npos);
    EXPECT_NE(words([](auto& j) { j.prompt = "abc"; }).find("prompt"), std::string::npos);
    EXPECT_NE(words([](auto& j) { j.sample.temperature = -2; }).find("temperature"),
              std::string::npos);
    EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST(CompleteJob, LevelsMapBothWays) {
    ModelConfig model = tiny_model("aft-full", "image");
    for (const int64_t levels : {2, 16, 64, 256}) {
        model.levels = levels;
        std::vector<uint8_t> tokens;
        for (int64_t i = 0; i < 16; ++i)
            tokens.push_back(static_cast<uint8_t>(i * (levels - 1) / 15));
        const FittedPicture fitted = fit_picture(tokens_picture(tokens, model), model);
        EXPECT_EQ(fitted.tokens, tokens) << levels;
        EXPECT_EQ(fitted.changes, "") << levels;
    }
}

TEST(CompleteJob, SaysWhatBecameOfAPictureOfAnotherSize) {
    ModelConfig model = tiny_model("aft-full", "image");
    model.height = model.width = 4;
    model.channels = 1;
    const auto changes = [&](int64_t width, int64_t height, int64_t channels) {
        const std::vector<uint8_t> pixels(static_cast<size_t>(width * height * channels), 9);
        return fit_picture({width, height, channels, pixels}, model).changes;
    };
    EXPECT_EQ(changes(4, 4, 1), "");
    EXPECT_EQ(changes(8, 6, 1), "8 x 6 pixels: cropped to 6 x 6, resized to 4 x 4");
    EXPECT_EQ(changes(4, 4, 3), "4 x 4 pixels: in grey");
    EXPECT_EQ(changes(2, 2, 3), "2 x 2 pixels: resized to 4 x 4, in grey");
    EXPECT_EQ(changes(4, 9, 1), "4 x 9 pixels: cropped to 4 x 4");
}

TEST(ProbeJob, WritesNumbersAndPictures) {
    const Scratch folder;
    ProbeJob job;
    job.model = store(folder, tiny_model("aft-conv2d", "image"));
    job.probe = "bias";
    job.layer = 1;
    job.out = (folder / "w.npy").string();
    const ProbeResult result = probe_job(job, {});
    EXPECT_EQ(result.shape, (std::vector<int64_t>{2, 16, 16}));
    EXPECT_EQ(result.file, job.out);
    EXPECT_EQ(read_npy(job.out).shape, result.shape);
    const std::string no_font = error_of([] { const GlyphSource letters; });
    for (const std::string probe :
         {"bias", "kernel", "keys", "attention", "gates", "predictions"}) {
        job.probe = probe;
        job.image = store_picture(folder);
        for (const std::string kind : {".png", ".csv", ".npy"}) {
            job.out = (folder / (probe + kind)).string();
            const bool lacks_font = kind == ".png" && !no_font.empty();  // a bare server
            EXPECT_EQ(error_of([&] { (void)probe_job(job, {}); }), lacks_font ? no_font : "")
                << probe << kind;
            EXPECT_EQ(fs::exists(job.out), !lacks_font);
        }
    }
    job.layer = 7;
    EXPECT_NE(error_of([&] { (void)probe_job(job, {}); }).find("0 to 1"), std::string::npos);
    job.out = (folder / "x.txt").string();
    EXPECT_NE(error_of([&] { (void)probe_job(job, {}); }).find(".npy"), std::string::npos);
}

}  // namespace
}  // namespace aft
