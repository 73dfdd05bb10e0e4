// What a model cannot show is said by an empty state, and the workspace that it names instead shows
// something of this model.
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class EmptyStates : public BareTest {
  protected:
    void open(const std::string& mixer, const std::string& task) {
        initialize_model("cpu", 1);
        OpenRequest request;
        request.config = tiny_config();
        ModelConfig& model = request.config->model;
        model.mixer = mixer;
        model.task = task;
        if (mixer == "softmax" || mixer.starts_with("aft-conv")) model.own["heads"] = 4;
        if (mixer == "aft-conv2d" || mixer == "aft-local") model.own["window"] = 3;
        if (task == "classify") {
            request.config->data.source = "shapes?size=16";
            model.own["patch"] = 4;
            model.positions = mixer != "aft-conv2d" ? "learned" : "none";
        }
        request.out = (scratch_ / (mixer + "-" + task)).string();
        make();
        ui().commands.send(OpenRun{std::move(request)});
        run("frames 2\nwait Ready\n");
    }
    // The empty state of a pane whose answers are in; "" = it shows something, and no error.
    std::string empty_words(const std::string& pane, const std::string& shown) {
        EXPECT_TRUE(until([&] {
            return is_there(pane + "/main/empty_state") || has_drawn(pane + shown);
        })) << pane
            << shown;
        steps(5);
        EXPECT_EQ(value_of(pane + "/main/banner"), "");
        return value_of(pane + "/main/empty_state");
    }
    bool has_drawn(const std::string& label) {
        for (const WidgetRecord& w : ui().recorder.last())
            if (w.path.id.starts_with(label) && !w.value.empty() && w.value != "loading")
                return true;
        return false;
    }
    std::string keys_words() {
        run("view.workspace_attention\nframes 3\nclick keys/main/tab\nframes 3\n");
        return empty_words("keys", "/main/hover_line");
    }
    std::string attention_words() {
        run("view.workspace_attention\nframes 3\nclick attention/main/tab\nframes 3\n");
        return empty_words("attention", "/main/both");
    }
};

TEST_F(EmptyStates, ARunOfAnotherProcessThatHasSavedNothingIsWaitedFor) {
    make(fed([](Ui& ui) {
        feed_small(ui);
        ui.status.following = true;
        ui.history.clear();
    }));
    run("view.workspace_biases\nframes 5\n");
    EXPECT_NE(value_of("atlas/main/empty_state").find("Waiting for the first checkpoint"),
              std::string::npos)
        << dump(ui());
}

TEST_F(EmptyStates, KeysOfSoftmaxSayWhyAndNameThePaneThatShowsSomething) {
    for (const char* task : {"image", "classify"}) {
        SCOPED_TRACE(task);
        open("softmax", task);
        const std::string words = keys_words();
        EXPECT_NE(words.find("No key maps in this model. Softmax compares its keys with queries"),
                  std::string::npos)
            << words;
        EXPECT_NE(words.find("the tab Attention"), std::string::npos) << words;
        EXPECT_EQ(attention_words(), "");
    }
    // A model with key maps shows them again.
    open("aft-simple", "image");
    EXPECT_EQ(keys_words(), "");
}

TEST_F(EmptyStates, CompleteNamesAWorkspaceThatShowsSomethingOfAClassifier) {
    for (const char* mixer : {"aft-simple", "aft-full", "aft-local", "aft-conv2d", "softmax"}) {
        SCOPED_TRACE(mixer);
        open(mixer, "classify");
        run("view.workspace_complete\nframes 3\n");
        const std::string words = value_of("samples/main/empty_state");
        EXPECT_NE(words.find("classifies pictures"), std::string::npos) << words;
        const auto names = [&](const char* what) { return words.find(what) != std::string::npos; };
        EXPECT_EQ(names("kernels"), std::string(mixer) == "aft-conv2d") << words;
        run("view.workspace_biases\nframes 3\n");
        const std::string biases = empty_words("atlas", "/main/l");
        EXPECT_EQ(names("Biases"), biases.empty()) << words << " | " << biases;
        EXPECT_EQ(names("keys"), keys_words().empty()) << words;
        EXPECT_TRUE(names("Attention")) << words;
        EXPECT_EQ(attention_words(), "");
    }
}

}  // namespace
}  // namespace aft::app
