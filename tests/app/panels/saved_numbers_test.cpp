// Save view > Numbers: the tables that are written are what the model holds and what the panes
// draw.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "tests/app/stage_fixture.h"
#include "viz/image_grid.h"

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
        EXPECT_TRUE(until([&] {
            return fs::exists(file) || dump(ui()).find("Numbers not saved") != std::string::npos;
        })) << dump(ui());
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

TEST_F(SavedNumbers, ATableIsAFileWithAHeaderRow) {
    open_mirror();
    run("view.workspace_biases\nframes 10\nclick structure/main/tab\nframes 10\n");
    const std::string file = save("structure.csv", "numbers");
    ASSERT_TRUE(fs::exists(file)) << dump(ui());
    ProbeRequest request;
    request.probe = "reach";
    const FieldSetPtr fields = ask(request);
    ASSERT_NE(fields, nullptr);
    std::istringstream lines(read_file(file));
    std::string head, first;
    std::getline(lines, head);
    std::getline(lines, first);
    EXPECT_TRUE(head.starts_with("Layer,\"50 %, pixels\",\"90 %, pixels\",\"Mean, pixels\","))
        << head;
    std::vector<std::string> cells;
    std::istringstream row(first);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    ASSERT_GT(cells.size(), 4U) << first;
    for (size_t i = 0; i < 3; ++i)
        EXPECT_EQ(std::stof(cells[i + 1]), fields->fields.front().values.at(i)) << first;
    const std::string npz = read_file(save("structure.npz", "numbers"));
    EXPECT_NE(npz.find("structure.heads.npy"), std::string::npos);
    EXPECT_NE(npz.find("structure.heads.csv"), std::string::npos);
}

TEST_F(SavedNumbers, TheNoteSaysWhatTheyAreOf) {
    open_trained_run(20);
    run("view.workspace_biases\nframes 10\nclick structure/main/tab\nframes 10\n");
    const std::string file = save("structure.csv", "numbers");
    ASSERT_TRUE(until([&] { return fs::exists(file + ".json"); }));
    const auto note = nlohmann::json::parse(read_file(file + ".json"));
    EXPECT_EQ(note.at("step"), 20) << "live: that of the maps";
    const auto& of = note.at("numbers");
    EXPECT_EQ(of.at("run"), fs::absolute(folder_).string());
    EXPECT_EQ(of.at("step"), 20);
    EXPECT_EQ(of.at("quantity"), "exp-1");
    EXPECT_EQ(of.at("gauge"), "fixed");
    EXPECT_TRUE(of.at("commands").is_array());
    EXPECT_EQ(of.at("tables").at("structure.heads").at("columns").at(0), "Layer");
    run("click formation/main/tab\nframes 10\n");
    const std::string formation = save("formation.csv", "numbers");
    ASSERT_TRUE(until([&] { return fs::exists(formation + ".json"); }));
    EXPECT_NE(read_file(formation + ".json").find("afterimage probe formation"), std::string::npos);
}

TEST_F(SavedNumbers, ReplaceNothingUnasked) {
    open_mirror();
    run("view.workspace_biases\nframes 10\nclick structure/main/tab\nframes 10\n");
    const fs::path note = scratch_ / "a.csv.json";
    put(note, "mine");
    const std::string first = (scratch_ / "a.csv").string();
    run("key Ctrl+E\nframes 3\nclick view_card/main/format=numbers\nframes 2\n"
        "set view_card/main/file " +
        first + "\nframes 2\nclick view_card/main/save\nframes 1\n");
    ASSERT_TRUE(until([&] {
        return dump(ui()).find("a.csv.json would be written") != std::string::npos;
    })) << dump(ui());
    EXPECT_FALSE(fs::exists(first));
    EXPECT_EQ(read_file(note), "mine");
    fs::remove(note);
    (void)save("a.csv", "numbers");
    ASSERT_TRUE(until([&] { return fs::exists(note); }));
    put(note, "old");
    run("key Ctrl+E\nframes 3\nset view_card/main/file " + first +
        "\nframes 2\nclick view_card/main/save\nframes 3\n");
    EXPECT_NE(value_of("view_card/main/problem").find("is there already: Save once more"),
              std::string::npos)
        << dump(ui());
    EXPECT_EQ(read_file(note), "old");
    run("click view_card/main/save\nframes 2\n");
    EXPECT_TRUE(until([&] { return read_file(note) != "old"; })) << "asked and confirmed";
}

TEST_F(SavedNumbers, WaitForWhatIsStillRead) {
    open_trained_run(60);
    run("view.workspace_biases\nframes 3\n");
    const std::string file = (scratch_ / "formation.csv").string();
    ui().commands.send(ShowPane{"formation"});
    ui().picture.request.path = file;  // in the frame in which its first step is asked for
    ui().picture.frames = 2;
    ASSERT_TRUE(until([&] { return fs::exists(file); })) << dump(ui());
    const size_t count = ui().history.size();
    ASSERT_GT(count, 2U);
    const std::vector<float> values = table(read_file(file), "formation.formation");
    EXPECT_EQ(values.size(), 2 * count) << "of each layer every step";
    for (const float value : values) EXPECT_TRUE(std::isfinite(value));
}

TEST_F(SavedNumbers, OfPicturesAreTheirLevels) {
    viz::TokenTexture texture;
    const std::vector<uint8_t> levels = {0, 7, 15, 3};
    texture.set(
        viz::TokenImage{
            .tokens = levels, .height = 2, .width = 2, .channels = 1, .levels = 16, .known = 3},
        viz::Look());
    const NumberTable numbers = texture.numbers();
    EXPECT_EQ(numbers.shape, (std::vector<int64_t>{2, 2, 1}));
    ASSERT_EQ(numbers.values.size(), 4U);
    EXPECT_EQ(numbers.values[1], 7);
    EXPECT_EQ(numbers.values[2], 15);
    EXPECT_TRUE(std::isnan(numbers.values[3])) << "not there yet";
    texture.note_values({.name = {}, .shape = {1}, .values = {-12}});
    EXPECT_EQ(texture.numbers().values.front(), -12);
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
