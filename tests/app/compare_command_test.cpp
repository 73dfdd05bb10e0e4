// afterimage compare: heads are found again whatever their order, and what cannot be compared is
// said.
#include <gtest/gtest.h>

#include "app/cli/compare_words.h"
#include "model/jobs.h"
#include "tests/core/read_npy.h"
#include "tests/core/scratch.h"
#include "tests/model/checkpoints/maps_file.h"
#include "tests/source_file.h"

namespace aft {
namespace {

class CompareCommand : public ::testing::Test {
  protected:
    CompareCommand() {
        initialize_model("cpu", 1);
        const auto maps = maps_of({map_entry("layer", "full", {2, 2}, "none")});
        MapsTensor a = counted_tensor("biases.0", {2, 4, 4});
        for (size_t i = 16; i < 32; ++i) a.values[i] = i % 3 == 0 ? 2.0F : -1.0F;
        MapsTensor b = a;
        std::rotate(b.values.begin(), b.values.begin() + 16, b.values.end());
        b.values.at(16 + 5) += 0.5F;  // head 1 of b is head 0 of a
        put_maps(file("a"), maps_description(maps, 1), {a});
        put_maps(file("b"), maps_description(maps, 2), {b});
        job_.a.model = file("a");
        job_.b.model = file("b");
        job_.gauge = "raw";
    }
    std::string file(const std::string& name) {
        return (scratch_ / (name + ".safetensors")).string();
    }
    const Scratch scratch_;
    CompareJob job_;
};

TEST_F(CompareCommand, FindsWhichHeadIsWhich) {
    job_.out = (scratch_ / "difference.npy").string();
    const CompareResult result = compare_job(job_, {});
    ASSERT_EQ(result.layers.size(), 1u);
    const ComparedLayer& layer = result.layers.front();
    ASSERT_EQ(layer.matching.pairs.size(), 2u);
    EXPECT_EQ(layer.matching.of_a(0), 1);
    EXPECT_EQ(layer.matching.of_a(1), 0);
    EXPECT_NEAR(layer.all.norm_change, 0.5, 1e-6);
    ASSERT_EQ(result.changes.size(), 1u);
    EXPECT_EQ(result.changes.front().row, 1);
    EXPECT_EQ(result.changes.front().column, 1);
    EXPECT_EQ(result.changes.front().head_b, 1);
    const Field map = read_npy(job_.out);
    ASSERT_EQ(map.shape, (std::vector<int64_t>{4, 4}));
    for (size_t i = 0; i < 16; ++i) EXPECT_FLOAT_EQ(map.values[i], i == 5 ? 0.5F : 0.0F) << i;
    job_.matches = false;
    EXPECT_GT(compare_job(job_, {}).layers.front().all.norm_change, 1);
    EXPECT_EQ(result.a.step, 1);
    EXPECT_EQ(result.b.step, 2);
}

// The twin: the same layers in another order.
TEST_F(CompareCommand, FindsWhichLayerIsWhich) {
    std::vector<nlohmann::json> layers;
    std::vector<MapsTensor> a, b;
    const size_t order[] = {2, 0, 1};  // layer i of b is layer order[i] of a
    for (size_t i = 0; i < 3; ++i) {
        layers.push_back(map_entry("layer " + std::to_string(i), "full", {2, 2}, "none"));
        a.push_back(counted_tensor("biases." + std::to_string(i), {2, 4, 4}));
        for (size_t k = 0; k < a[i].values.size(); ++k)
            a[i].values[k] = float((k * 37 + i * 101) % 17) - 8;
    }
    for (size_t i = 0; i < 3; ++i) {
        b.push_back(a[order[i]]);
        b[i].name = "biases." + std::to_string(i);
    }
    b[1].values.at(6) += 0.5F;  // layer 0 of a
    put_maps(file("a"), maps_description(maps_of(layers), 1), a);
    put_maps(file("b"), maps_description(maps_of(layers), 2), b);
    EXPECT_GT(compare_job(job_, {}).layers.front().all.norm_change, 1) << "in their order";
    job_.matches_layers = true;
    job_.layer = 2;
    job_.out = (scratch_ / "both.npy").string();
    job_.view = "both";
    const CompareResult result = compare_job(job_, {});
    ASSERT_EQ(result.layers.size(), 3u);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(result.layers[order[i]].layer_b, int64_t(i));
    EXPECT_NEAR(result.layers[2].matching.mean_score(), 1, 1e-6);
    EXPECT_EQ(result.layers[2].all.norm_change, 0);
    ASSERT_EQ(result.changes.size(), 1u);
    EXPECT_EQ(result.changes.front().layer, 0);
    EXPECT_EQ(result.changes.front().layer_b, 1);
    const Field both = read_npy(job_.out);
    for (size_t i = 0; i < 16; ++i) EXPECT_EQ(both.values[i], both.values[16 + i]) << i;
    EXPECT_EQ(both.values[3], a[2].values[3]);
    ASSERT_EQ(result.layer_pairs.size(), 3u);
    EXPECT_LT(result.sum_in_order, 2.9);
    const std::string words = app::compare_words(job_, result);
    EXPECT_NE(words.find("matched: 0-1, 1-2, 2-0, sum of correlations 3.00; in order "),
              std::string::npos)
        << words;
    EXPECT_EQ(words.find("likeness"), std::string::npos) << words;
}

TEST_F(CompareCommand, ItsWordsSayWhatIsNotKnownAndWhatIsNoLikeness) {
    CompareResult result = compare_job(job_, {});
    std::string words = app::compare_words(job_, result);
    EXPECT_NE(words.find("settings: none differ"), std::string::npos) << words;
    EXPECT_EQ(words.find(" nan"), std::string::npos) << words;
    EXPECT_NE(words.find("target"), std::string::npos) << words;
    job_.matches_layers = true;
    result.layer_pairs = {{.a = 0, .b = 1, .score = 0.25}, {.a = 1, .b = 0, .score = 0.3}};
    result.settings = {{.key = "train.data", .values = {std::string(200, 'x'), "y"}}};
    words = app::compare_words(job_, result);
    EXPECT_NE(words.find("layers 0-1: correlation below 0.3"), std::string::npos) << words;
    EXPECT_NE(words.find(std::string(40, 'x') + "...  y"), std::string::npos) << words;
}

TEST_F(CompareCommand, ProgressReachesTheEnd) {
    job_.matches_layers = true;
    std::vector<Progress> seen;
    JobControl control;
    control.report = [&](const Progress& progress) { seen.push_back(progress); };
    (void)compare_job(job_, control);
    for (const char* what : {"layers to match", "layers"}) {
        const auto last = std::find_if(seen.rbegin(), seen.rend(),
                                       [&](const Progress& one) { return one.what == what; });
        ASSERT_NE(last, seen.rend()) << what;
        EXPECT_EQ(last->done, last->total) << what;
    }
}

TEST_F(CompareCommand, StepsThatAreStoredAreListed) {
    job_.b.step = 7;
    const std::string error = error_of([&] { (void)compare_job(job_, {}); });
    EXPECT_NE(error.find("step 7 is not stored there; stored: 2"), std::string::npos) << error;
}

TEST_F(CompareCommand, SaysWhatCannotBeCompared) {
    const auto error = [&] { return error_of([&] { (void)compare_job(job_, {}); }); };
    job_.out = (scratch_ / "x.npy").string();
    job_.head = 2;
    EXPECT_NE(error().find("heads 0 to 1"), std::string::npos) << error();
    job_.head = 0;
    job_.layer = 7;
    EXPECT_NE(error().find("layers 0 to 0"), std::string::npos) << error();
    job_.layer = 0;
    job_.b.model = source_file("assets/demo/shapes.safetensors").string();
    EXPECT_NE(error().find("do not correspond"), std::string::npos) << error();
    job_.b.model = file("none");
    EXPECT_NE(error().find("none.safetensors"), std::string::npos) << error();
    job_.out = "x.png";
    EXPECT_NE(error().find(".npy or .csv"), std::string::npos) << error();
}

}  // namespace
}  // namespace aft
