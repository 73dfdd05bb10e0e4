// Checkpoints: what is written comes back, and every way in which a file can be wrong is named.
#include "model/checkpoints/checkpoint.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <limits>

#include "core/check.h"
#include "core/files.h"
#include "core/rng.h"
#include "model/checkpoints/format.h"
#include "model/jobs.h"
#include "model/train/trainer.h"
#include "tests/model/train/train_fixtures.h"

namespace aft {
namespace {

Checkpoint trained(int64_t steps) {
    Trainer trainer(tiny_config(), at::kCPU);
    for (int64_t i = 0; i < steps; ++i) (void)trainer.step();
    return trainer.checkpoint(/*with_optimizer=*/true);
}

const Checkpoint& sample() {
    static const Checkpoint checkpoint = trained(2);
    return checkpoint;
}

bool same(const std::vector<std::pair<std::string, at::Tensor>>& a,
          const std::vector<std::pair<std::string, at::Tensor>>& b) {
    if (a.size() != b.size()) return false;
    for (const auto& [name, tensor] : a) {
        const auto found = std::find_if(
            b.begin(), b.end(), [&n = name](const auto& other) { return other.first == n; });
        if (found == b.end() || !at::equal(found->second, tensor)) return false;
    }
    return true;
}

// The error of reading and fitting the file after `change` was made to its tensors and description.
template <class Change>
std::string changed_error(Change&& change) {
    const Scratch folder;
    write_checkpoint(folder / "a", sample());
    TensorFile file = read_tensors(folder / "a");
    nlohmann::json description = nlohmann::json::parse(file.metadata.at("afterimage"));
    change(file, description);
    file.metadata["afterimage"] = description.dump();
    write_tensors(folder / "b", file);
    return error_of([&] { (void)make_net(read_checkpoint(folder / "b")); });
}

bool mentions(const std::string& text, const std::vector<std::string>& words) {
    return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
        return text.find(word) != std::string::npos;
    });
}

TEST(Checkpoint, RoundTripKeepsEverything) {
    const Scratch folder;
    write_checkpoint(folder / "x.safetensors", sample());
    const Checkpoint back = read_checkpoint(folder / "x.safetensors");
    EXPECT_EQ(config_to_json(back.config), config_to_json(sample().config));
    EXPECT_EQ(back.step, 2);
    EXPECT_EQ(back.metrics, sample().metrics);
    EXPECT_EQ(back.data, sample().data);
    EXPECT_EQ(back.training, sample().training);
    EXPECT_TRUE(same(back.weights, sample().weights));
    EXPECT_TRUE(same(back.optimizer, sample().optimizer));
    EXPECT_FALSE(back.optimizer.empty());
}

TEST(Checkpoint, ItsHeaderIsAllButTheTensors) {
    const Scratch folder;
    write_checkpoint(folder / "x.safetensors", sample());
    const Checkpoint header = read_checkpoint_header(folder / "x.safetensors");
    EXPECT_EQ(config_to_json(header.config), config_to_json(sample().config));
    EXPECT_EQ(header.step, 2);
    EXPECT_EQ(header.metrics, sample().metrics);
    EXPECT_EQ(header.data, sample().data);
    EXPECT_TRUE(header.weights.empty() && header.optimizer.empty());
}

TEST(Checkpoint, ANetFromItHasItsWeights) {
    const Net net = make_net(sample());
    std::vector<std::pair<std::string, at::Tensor>> values;
    for (const Parameter& parameter : net.parameters())
        values.emplace_back(parameter.name, parameter.value.detach());
    EXPECT_TRUE(same(values, sample().weights));
}

TEST(Checkpoint, HalfPrecisionComesBackAsTheNearestFloat32) {
    const Scratch folder;
    write_checkpoint(folder / "full", sample());
    const ExportResult report =
        export_weights((folder / "full").string(), (folder / "half").string(), /*half=*/true);
    EXPECT_EQ(report.parameters, parameter_count(make_net(sample()).parameters()));
    EXPECT_EQ(report.bytes, static_cast<int64_t>(fs::file_size(folder / "half")));
    EXPECT_EQ(report.dtype, "F16");
    const Checkpoint back = read_checkpoint(folder / "half");
    EXPECT_TRUE(back.optimizer.empty());
    EXPECT_TRUE(back.training.is_null());
    for (size_t i = 0; i < back.weights.size(); ++i) {
        const auto& [name, tensor] = back.weights[i];
        EXPECT_EQ(tensor.scalar_type(), at::kFloat);
        for (const auto& [known, full] : sample().weights) {
            const bool same_name = known == name;
            EXPECT_TRUE(!same_name || at::equal(tensor, full.to(at::kHalf).to(at::kFloat))) << name;
        }
    }
    EXPECT_LT(fs::file_size(folder / "half"), fs::file_size(folder / "full") / 4);
    (void)make_net(back);
}

TEST(Checkpoint, ValuesThatHalfCannotHoldStayWhole) {
    EXPECT_TRUE(fits_half(at::tensor({65504.0F, -1.0F})));
    EXPECT_FALSE(fits_half(at::tensor({65505.0F})));
    EXPECT_FALSE(fits_half(at::tensor({std::numeric_limits<float>::quiet_NaN()})));
    EXPECT_TRUE(fits_half(at::empty({0})));
}

TEST(Checkpoint, MissingExtraAndMisshapenTensorsAreNamed) {
    const std::string name = sample().weights.at(3).first;
    const auto find = [&](TensorFile& file) {
        return std::find_if(file.tensors.begin(), file.tensors.end(),
                            [&](const auto& entry) { return entry.first == name; });
    };
    EXPECT_TRUE(
        mentions(changed_error([&](TensorFile& f, nlohmann::json&) { f.tensors.erase(find(f)); }),
                 {name, "missing"}));
    EXPECT_TRUE(mentions(changed_error([](TensorFile& f, nlohmann::json&) {
                             f.tensors.emplace_back("blocks.9.extra", at::ones({3}));
                         }),
                         {"blocks.9.extra", "[3]", "not part"}));
    EXPECT_TRUE(mentions(changed_error([&](TensorFile& f, nlohmann::json&) {
                             find(f)->second = at::zeros({5, 7, 1000});
                         }),
                         {name, "[5, 7, 1000]", "the config needs ["}));
    EXPECT_TRUE(mentions(changed_error([&](TensorFile& f, nlohmann::json&) {
                             find(f)->second = find(f)->second.to(at::kInt);
                         }),
                         {name, "Int", "F32"}));
}

TEST(Checkpoint, ADescriptionThatDoesNotFitIsNamed) {
    using nlohmann::json;
    const auto error = [](auto&& change) {
        return changed_error([&](TensorFile&, json& description) { change(description); });
    };
    EXPECT_EQ(error([](json&) {}), "");
    EXPECT_TRUE(mentions(error([](json& d) { d["format_version"] = 2; }), {"format_version 2"}));
    EXPECT_TRUE(mentions(error([](json& d) { d["format_version"] = "1"; }), {"format_version"}));
    EXPECT_TRUE(mentions(error([](json& d) { d.erase("config"); }), {"config"}));
    EXPECT_TRUE(mentions(error([](json& d) { d["config"] = 3; }), {"config"}));
    EXPECT_TRUE(mentions(error([](json& d) { d["step"] = -1; }), {"step"}));
    EXPECT_TRUE(mentions(error([](json& d) { d["step"] = 1.5; }), {"step"}));
    EXPECT_TRUE(mentions(error([](json& d) { d["stepp"] = 1; }), {"stepp"}));
    EXPECT_TRUE(mentions(error([](json& d) { d["task"] = "text"; }), {"task"}));
    EXPECT_TRUE(mentions(error([](json& d) { d["config"]["model"]["dimm"] = 1; }), {"dimm"}));
    EXPECT_TRUE(mentions(error([](json& d) { d["config"]["model"]["dim"] = "x"; }), {"dim"}));
    EXPECT_NE(error([](json& d) { d["config"]["model"]["layers"] = 3; }), "");
    EXPECT_NE(error([](json& d) { d["config"]["model"]["mixer"] = "aft-simple"; }), "");
}

// Memory for it must not be taken before the file has shown that it holds as much.
TEST(Checkpoint, AConfigFarLargerThanTheFileIsRefusedAtOnce) {
    const std::string error = changed_error([](TensorFile&, nlohmann::json& description) {
        description["config"]["model"]["dim"] = 4096;
        description["config"]["model"]["layers"] = 64;
    });
    EXPECT_TRUE(mentions(error, {"do not belong together"})) << error;
}

TEST(Checkpoint, OtherFilesOfTensorsAreToldApart) {
    const Scratch folder;
    write_tensors(folder / "x", {.tensors = {{"t", at::ones({2})}}, .metadata = {}});
    const std::string error = error_of([&] { (void)read_checkpoint(folder / "x"); });
    EXPECT_TRUE(mentions(error, {(folder / "x").string(), "afterimage"})) << error;
    write_tensors(folder / "y", {.tensors = {}, .metadata = {{"afterimage", "[1]"}}});
    EXPECT_NE(error_of([&] { (void)read_checkpoint(folder / "y"); }), "");
    EXPECT_NE(error_of([&] { (void)read_checkpoint(folder / "none"); }), "");
    EXPECT_NE(error_of([&] { (void)read_checkpoint(folder.path()); }), "");
}

TEST(Checkpoint, TruncatedAnywhereItIsAnErrorWithItsPath) {
    const Scratch folder;
    write_checkpoint(folder / "x", sample());
    const std::string whole = file_text(folder / "x");
    CounterRng rng(3, 0);
    std::vector<int64_t> cuts{0, 1, 7, 8, 9, static_cast<int64_t>(whole.size()) - 1};
    for (int i = 0; i < 60; ++i) cuts.push_back(rng.below(static_cast<int64_t>(whole.size())));
    for (const int64_t cut : cuts) {
        put(folder / "cut", whole.substr(0, static_cast<size_t>(cut)));
        const std::string error = error_of([&] { (void)read_checkpoint(folder / "cut"); });
        EXPECT_TRUE(mentions(error, {(folder / "cut").string()})) << cut << " " << error;
    }
}

// RLIMIT_FSIZE makes every write past the limit fail as a full disk does.
class FileLimit {
  public:
    explicit FileLimit(rlim_t bytes) {
        getrlimit(RLIMIT_FSIZE, &old_);
        const rlimit limit{bytes, old_.rlim_max};
        handler_ = std::signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileLimit() {
        setrlimit(RLIMIT_FSIZE, &old_);
        std::signal(SIGXFSZ, handler_);
    }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;

  private:
    rlimit old_{};
    void (*handler_)(int) = nullptr;
};

TEST(Checkpoint, AFullDiskLeavesTheOldFile) {
    const Scratch folder;
    write_checkpoint(folder / "x", sample());
    const std::string before = file_text(folder / "x");
    Checkpoint next = sample();
    next.step = 3;
    std::string error;
    {
        const FileLimit limit(before.size() / 2);
        error = error_of([&] { write_checkpoint(folder / "x", next); });
    }
    EXPECT_TRUE(mentions(error, {(folder / "x").string()})) << error;
    EXPECT_EQ(file_text(folder / "x"), before);
    EXPECT_EQ(folder.entries(), 1);  // no temporary file left
}

}  // namespace
}  // namespace aft
