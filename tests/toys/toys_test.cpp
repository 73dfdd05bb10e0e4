// A room is one file and one line: a mixer and a task of the tests' own are in the lists, have
// their settings, train, and are shown by every probe and every panel, of which none knows them.
#include <nlohmann/json.hpp>

#include "app/panels/rooms.h"
#include "core/check.h"
#include "model/jobs/cost.h"
#include "tests/app/stage_fixture.h"
#include "tests/toys/rooms.h"

namespace aft::app {
namespace {

constexpr int64_t kHeads = 2, kSide = 8, kTokens = kSide * kSide;

class Toys : public BareTest {
  protected:
    static void SetUpTestSuite() {
        add_toy_rooms();
        initialize_model("cpu", 1);
    }
    static Config toy_config() {
        Config config = tiny_config();
        SettingRows rows = config.rows();
        for (const auto& [key, value] :
             std::map<std::string, std::string>{{"model.mixer", "toy-decay"},
                                                {"model.task", "toy-values"},
                                                {"model.heads", std::to_string(kHeads)},
                                                {"model.decay_power", "0.75"},
                                                {"model.counted", "48"},
                                                {"train.value_smoothing", "0.125"},
                                                {"train.steps", "2"},
                                                {"data.source", "mirror?size=8&levels=4"}})
            set_from_text(rows, key, value);
        return config;
    }
    // A run of two steps in `folder_`.
    TrainResult train() {
        folder_ = scratch_ / "run";
        TrainRequest request;
        request.config = toy_config();
        request.out = folder_.string();
        return train_job(request, {});
    }
    void open_toy() {
        static_cast<void>(train());
        make();
        stage_->frame().open(folder_.string());
        run("frames 2\nwait Ready\n");
    }
    void expect_no_problem() {
        for (const LogLine& line : ui().log) EXPECT_NE(line.kind, "error") << line.text;
        EXPECT_EQ(dump(stage_->frame().ui()).find("/Banner"), std::string::npos);
    }
};

bool is_listed(const std::string& list, const std::string& name) {
    for (const NamedList& one : model_lists())
        for (const RoomInfo& room : one.rooms)
            if (one.name == list && room.name == name) return !room.sentence.empty();
    return false;
}

TEST_F(Toys, AreInTheLists) {
    EXPECT_TRUE(is_listed("mixers", "toy-decay"));
    EXPECT_TRUE(is_listed("tasks", "toy-values"));
}

TEST_F(Toys, TheMixerIsInTheTableOfCosts) {
    CostRequest request;
    request.config = toy_config();
    request.lengths = {kTokens};
    const CostResult result = cost_job(request);
    size_t own = 0;
    for (const CostRow& row : result.rows) own += row.is_own && row.mixer == "toy-decay" ? 1 : 0;
    EXPECT_EQ(own, 1u);
    EXPECT_GT(result.rows.size(), 5u);
}

TEST_F(Toys, TheirSettingsAreSettingsLikeOthers) {
    Config config = toy_config();
    const SettingRows rows = config.rows();
    int found = 0;
    for (const Setting& row : rows) {
        found += row.key == "model.decay_power" || row.key == "model.counted" ||
                         row.key == "train.value_smoothing"
                     ? 1
                     : 0;
        EXPECT_FALSE(row.help.empty()) << row.key;
    }
    EXPECT_EQ(found, 3);
    const nlohmann::json json = config_to_json(config);
    EXPECT_EQ(json["model"]["decay_power"], 0.75);
    Config again = config_from_json(json, "test");
    EXPECT_EQ(again.model.own, config.model.own);
    EXPECT_EQ(json["train"]["value_smoothing"], 0.125);
    EXPECT_EQ(again.train.own, config.train.own);
    SettingRows other = again.rows();
    EXPECT_THROW(set_from_text(other, "model.decay_power", "5"), Error);
    // A room's default holds where nothing is said.
    EXPECT_EQ(config_to_json(Config())["model"]["decay_power"], 0.5);
}

TEST_F(Toys, TrainForTwoStepsAndAreSaved) {
    const TrainResult result = train();
    EXPECT_EQ(result.step, 2);
    EXPECT_EQ(result.task.metric, "perplexity");
    EXPECT_NEAR(result.metrics.at("perplexity"), std::exp(result.metrics.at("loss")), 1e-9);
    const InspectResult inspected = inspect_job(folder_.string());
    const nlohmann::json model = config_to_json(inspected.config)["model"];
    EXPECT_EQ(model["decay_power"], 0.75);
    EXPECT_EQ(model["counted"], 48);
    EXPECT_EQ(config_to_json(inspected.config)["train"]["value_smoothing"], 0.125);
    EXPECT_EQ(inspected.bias.size(), static_cast<size_t>(inspected.config.model.layers) * 2)
        << "statistics of every head";
    const RunSummary summary = summarize_run(folder_.string());
    EXPECT_EQ(summary.error, "");
    EXPECT_NE(summary.what.find("toy-decay"), std::string::npos) << summary.what;
    EXPECT_EQ(summary.mixer.bias, BiasLayout::matrix);
    EvalRequest eval;
    eval.model = folder_.string();
    eval.data = "mirror?split=test";
    eval.limit = 2;
    const EvalResult measured = eval_job(eval, {});
    EXPECT_EQ(measured.metric, "perplexity");
    EXPECT_GT(measured.metric_value, 1);
}

TEST_F(Toys, EveryProbeShowsThemOrSaysWhatTheyLack) {
    static_cast<void>(train());
    for (const ProbeInfo& probe : probe_list()) {
        SCOPED_TRACE(probe.info.name);
        ProbeJob job;
        job.probe = probe.info.name;
        job.model = folder_.string();
        job.data = "mirror?split=test";
        job.position = 9;
        if (job.probe == "patching") job.other = 1;  // two inputs
        job.out = (scratch_ / (probe.info.name + ".png")).string();
        try {
            const ProbeResult made = probe_job(job, {});
            if (job.probe == "bias") {
                EXPECT_EQ(made.shape, (std::vector<int64_t>{kHeads, kTokens, kTokens}));
            }
        } catch (const Error& error) {
            const std::string words = error.what();
            const bool is_gate = words.find("toy-decay has no gate") != std::string::npos;
            const bool is_kernel = words.find("has no kernel") != std::string::npos;
            const bool is_window = words.find("has no window") != std::string::npos;
            EXPECT_TRUE(is_gate || is_kernel || is_window) << words;
        }
    }
}

TEST_F(Toys, EveryPanelOfEveryWorkspaceDrawsThem) {
    open_toy();
    EXPECT_EQ(ui().status.mixer.heads, kHeads);
    EXPECT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    std::string drawn;
    for (const Workspace workspace : kWorkspaces) {
        ui().workspace = workspace;
        for (const PanelRoom& room : panels()) {  // tabs behind others come to the front
            const std::string tab = room.id + "/main/tab";
            steps(2);
            if (is_there(tab)) run("click " + tab + "\nframes 2\n");
            drawn += dump(stage_->frame().ui());
        }
        steps(60);
        drawn += dump(stage_->frame().ui());
    }
    for (const PanelRoom& room : panels())
        EXPECT_NE(drawn.find("\t" + room.id + "/"), std::string::npos) << room.info.name;
    expect_no_problem();
}

TEST_F(Toys, BiasesKeysAndAttentionShowSomething) {
    open_toy();
    run("view.workspace_biases\nframes 3\n");
    for (const char* map : {"atlas/main/l0_h0", "atlas/main/l0_h1", "atlas/main/l1_h1"})
        EXPECT_TRUE(until([&] { return value_of(map) == "drawn"; })) << map;
    EXPECT_EQ(value_of("atlas/main/empty_state"), "");
    run("view.workspace_attention\nframes 3\nclick keys/main/tab\nframes 3\n");
    EXPECT_TRUE(until([&] { return is_there("keys/main/hover_line"); }));
    EXPECT_EQ(value_of("keys/main/empty_state"), "");
    run("click attention/main/tab\nframes 3\n");
    EXPECT_TRUE(until([&] { return is_there("attention/main/both"); }));
    expect_no_problem();
}

TEST_F(Toys, CompleteAPicture) {
    open_toy();
    run("view.workspace_complete\nframes 3\n");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    run("complete.start\nframes 3\n");
    EXPECT_TRUE(until([&] {
        const auto& own = ui().selection.completion.own;
        return own && own->done;
    }));
    const auto& own = ui().selection.completion.own;
    ASSERT_NE(own, nullptr);
    EXPECT_EQ(own->error, "");
    expect_no_problem();
}

}  // namespace
}  // namespace aft::app
