// Save view > Numbers: the tables that are written are what the model holds and what the panes
// draw.
#include <gtest/gtest.h>

#include "core/files.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class SavedNumbers : public BareTest {
  protected:
    // Types the file into the card and saves.
    std::string save(const std::string& name, const std::string& format) {
        const std::string file = (scratch_ / name).string();
        run("key Ctrl+E\nframes 3\nclick view_card/main/format=" + format +
            "\nframes 2\nset view_card/main/file " + file +
            "\nframes 2\nclick view_card/main/save\nframes 1\n");
        EXPECT_TRUE(until(
            [&] {
                return fs::exists(file) ||
                       dump(ui()).find("Numbers not saved") != std::string::npos;
            },
            2000))
            << dump(ui());
        return file;
    }
    // Of the CSV's lines those of a table: its values in order.
    static std::vector<float> table(const std::string& csv, const std::string& name) {
        std::vector<float> out;
        std::istringstream lines(csv);
        for (std::string line; std::getline(lines, line);)
            if (line.starts_with(name + ","))
                out.push_back(std::stof(line.substr(line.rfind(',') + 1)));
        return out;
    }
};

TEST_F(SavedNumbers, AreThoseOfTheModel) {
    open_mirror();
    run("view.workspace_biases\nframes 10\nclick focus/main/tab\nframes 10\n"
        "click focus/main/quantity=w\nframes 10\n");
    ASSERT_TRUE(until([&] { return value_of("focus/main/map") != "loading"; }));
    const std::string csv = read_file(save("focus.csv", "numbers"));
    ProbeRequest request;
    request.probe = "bias";
    request.options = {{"quantity", "w"}, {"gauge", "fixed"}};
    const FieldSetPtr fields = ask(request);
    ASSERT_NE(fields, nullptr);
    const std::vector<float> shown = table(csv, "focus.focus_map");
    const std::vector<float>& stored = fields->fields.front().values;
    EXPECT_FALSE(shown.empty()) << csv.substr(0, 300);
    size_t compared = 0;
    for (size_t i = 0; i < std::min(shown.size(), stored.size()); ++i) {
        if (std::isnan(shown[i])) continue;  // the causal future
        EXPECT_EQ(shown[i], stored[i]) << i;
        ++compared;
    }
    EXPECT_GT(compared, shown.size() / 3);
}

TEST_F(SavedNumbers, HoldEveryCurve) {
    open_trained_run(20);
    run("view.workspace_train\nframes 10\n");
    const std::vector<float> norms =
        table(read_file(save("train.csv", "numbers")), "curves.bias_norm_layer_0");
    const auto& curve = ui().curves->columns.at("bias_norm.layer.0");
    ASSERT_EQ(norms.size(), 2 * curve.size());
    for (size_t i = 0; i < curve.size(); ++i) {
        EXPECT_EQ(norms[2 * i], float(ui().curves->step[i]));
        EXPECT_EQ(norms[2 * i + 1], float(curve[i]));
    }
    const std::string npz = read_file(save("train.npz", "numbers"));
    EXPECT_NE(npz.find("curves.loss_train.npy"), std::string::npos);
    EXPECT_NE(npz.find("\"workspace\": \"train\""), std::string::npos) << "the view as a note";
}

TEST_F(SavedNumbers, WhereNothingIsDrawnItIsSaid) {
    open_mirror();
    run("view.workspace_home\nframes 5\n");
    const std::string file = save("home.csv", "numbers");
    run("frames 2\n");
    EXPECT_FALSE(fs::exists(file));
    EXPECT_NE(dump(ui()).find("Numbers not saved"), std::string::npos);
    EXPECT_NE(dump(ui()).find("show no map"), std::string::npos);
}

}  // namespace
}  // namespace aft::app
