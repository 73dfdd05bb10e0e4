// Presses a button that copies a command, and runs what is then on the clipboard. Tests only.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/program.h"
#include "tests/app/stage_fixture.h"
#include "tests/core/read_npy.h"

namespace aft::app {

// Words as a shell takes them apart: what stands in single quotes is one.
inline std::vector<std::string> words_of_shell(const std::string& line) {
    std::vector<std::string> out;
    bool is_quoted = false, is_open = false;
    for (const char c : line) {
        if (c == '\'') {
            is_quoted = !is_quoted;
        } else if (c == ' ' && !is_quoted) {
            is_open = false;
            continue;
        }
        if (!std::exchange(is_open, true)) out.emplace_back();
        if (c != '\'') out.back() += c;
    }
    return out;
}

class CopiedCommands : public BareTest {
  protected:
    void open_picture(ImVec2 size = {1600, 1000}) {
        open_mirror(size);
        ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    }
    // Presses the button, runs what is on the clipboard with this file, and returns the line.
    std::string run_command(const std::string& button_id, const std::string& file) {
        ImVec2 place;
        int still = 0;  // what is still being read moves it
        EXPECT_TRUE(until([&] {
            const WidgetRecord* button = ui().recorder.find(button_id);
            if (button == nullptr || !button->why_not.empty()) return false;
            still = button->min.y == place.y ? still + 1 : 0;
            place = button->min;
            return still >= 20;
        })) << dump(ui());
        run("click " + button_id + "\nframes 2\n");
        std::string line = ImGui::GetClipboardText();
        line = line.substr(0, line.find('\n'));  // of several the first
        std::vector<std::string> list = words_of_shell(line);
        EXPECT_GT(list.size(), 4U) << line;
        if (list.empty()) return line;
        list.back() = file;
        std::vector<char*> arguments;
        for (std::string& word : list) arguments.push_back(word.data());
        EXPECT_EQ(run_program(int(arguments.size()), arguments.data()), 0) << line;
        return line;
    }
    Field numbers_of_command(const std::string& button_id = "inspector/actions/copy_as_command") {
        const std::string file = (scratch_ / "numbers.npy").string();
        (void)run_command(button_id, file);
        return read_npy(file);
    }
    FieldSetPtr shown(ProbeRequest request) {
        request.tokens = ui().selection.image.item->tokens;
        return ask(request);
    }
    static void expect_same(const Field& file, const Field& field) {
        EXPECT_EQ(file.shape, field.shape);
        ASSERT_EQ(file.values.size(), field.values.size());
        for (size_t i = 0; i < field.values.size(); ++i)
            if (!std::isnan(field.values[i])) {
                ASSERT_EQ(file.values[i], field.values[i]) << i;
            }
    }
};

}  // namespace aft::app
