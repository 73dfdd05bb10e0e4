#include "app/host/take_picture.h"

#include <fmt/format.h>
#include <imgui_impl_opengl3.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "app/host/number_note.h"
#include "core/caught.h"
#include "core/files.h"
#include "core/npz.h"
#include "core/outside.h"
#include "model/system.h"
#include "viz/gl/framebuffer.h"
#include "viz/svg/draw_svg.h"

namespace aft::app {

namespace fs = std::filesystem;

namespace {

bool is_of_numbers(const std::string& path) {
    const std::string ending = lower_ending(path);
    return ending == ".npz" || ending == ".csv";
}

bool is_svg(const std::string& path) {
    return lower_ending(path) == ".svg";
}

void set_smooth_edges(bool is_smooth) {
    ImGuiStyle& style = ImGui::GetStyle();
    style.AntiAliasedLines = style.AntiAliasedLinesUseTex = style.AntiAliasedFill = is_smooth;
}

bool is_one_table(const std::vector<NumberTable>& tables) {
    return tables.size() == 1 && !tables.front().columns.empty();
}

fs::path table_path(const fs::path& path, const NumberTable& table) {
    return path.parent_path() / fmt::format("{}.{}.csv", path.stem().string(), table.name);
}

std::string note_path(const std::string& path) {
    return path + ".json";
}

// A table with a head is a file of its own beside the file; where it is all there is, it is the
// file.
void write_as_csv(const fs::path& path, const std::vector<NumberTable>& tables) {
    if (is_one_table(tables)) return write_atomically(path, table_csv(tables.front()));
    write_csv(path, tables);
    for (const NumberTable& table : tables)
        if (!table.columns.empty()) write_atomically(table_path(path, table), table_csv(table));
}

// What nobody has named is not replaced unasked.
void check_beside(const std::string& path, const std::vector<NumberTable>& tables) {
    std::vector<fs::path> beside = {note_path(path)};
    for (const NumberTable& table : tables)
        if (!is_one_table(tables) && !table.columns.empty())
            beside.push_back(table_path(path, table));
    std::error_code ignored;
    for (const fs::path& file : beside)
        if (fs::exists(file, ignored))
            fail("{} would be written beside it and is there already: choose another name",
                 shown_path(file.string()));
}

// What is shown is not all of it yet: why; "" = it is, or it is read anew again and again while
// training runs and has been there for long.
std::string unread_words(Ui& ui) {
    constexpr double kLongestWait_s = 20;
    const std::string& unread = ui.picture.numbers.unread;
    if (unread.empty()) return "";
    if (ui.picture.waited_since == 0) {
        ui.picture.waited_since = ui.time;
        ui.toasts.add({.title = "The numbers are saved when all is read", .detail = unread});
    }
    if (ui.time - ui.picture.waited_since < kLongestWait_s) return unread;
    fail("still reading ({}); save it when it is there", unread);
}

std::function<void()> writing_numbers(const Ui& ui, const std::string& path, bool replaces) {
    const std::vector<NumberTable>& tables = ui.picture.numbers.tables();
    if (tables.empty()) fail("the panes in the middle show no map, curve, picture or table");
    const bool is_csv = lower_ending(path) == ".csv";
    if (is_csv && !replaces) check_beside(path, tables);
    return [path, is_csv, tables, note = number_note(ui, ui.picture.numbers)] {
        if (!is_csv) return write_npz(path, tables, note);
        write_as_csv(path, tables);
        write_atomically(note_path(path), note);
    };
}

std::function<void()> writing_svg(const Ui& ui, const FrameReader& source,
                                  const std::string& path) {
    const viz::SvgView view{ui.picture.low, ui.picture.high, ui.theme.gap,
                            ui.status.name + ", " + workspace_name(ui.workspace)};
    return [path, text = viz::draw_data_svg(*ImGui::GetDrawData(), view, source.texture)] {
        write_atomically(path, text);
    };
}

// What is left to do when the frame has been read: may take seconds.
std::function<void()> writing(const Ui& ui, const FrameReader& source,
                              const PictureRequest& request) {
    const std::string& path = request.path;
    if (!is_of_numbers(path) && !source.pixels) fail("there is no OpenGL to draw it with");
    check_writable(path);
    if (is_of_numbers(path)) return writing_numbers(ui, path, request.replaces);
    if (is_svg(path)) return writing_svg(ui, source, path);
    return [path, picture = middle_of(source.pixels(), ui.picture)] { write_png(path, picture); };
}

void say_outcome(Ui& ui, const std::string& path, const std::string& error) {
    const bool is_written = error.empty();
    const std::string what = is_of_numbers(path) ? "Numbers" : "Picture";
    ui.toasts.add({.kind = is_written ? ToastKind::done : ToastKind::error,
                   .title = what + (is_written ? " saved" : " not saved"),
                   .detail = is_written ? path : error});
    ui.say(is_written ? "info" : "error", is_written
                                              ? fmt::format("{} saved: {}", what, path)
                                              : fmt::format("{} not saved: {}", what, error));
    ui.want_frames(2);
}

void report(Ui& ui) {
    if (ui.picture.work.is_busy()) return ui.want_frame_at(ui.time + 0.05);
    const auto written = ui.picture.work.latest();
    if (!written || written->number == ui.picture.reported) return;
    ui.picture.reported = written->number;
    say_outcome(ui, written->path, written->error);
}

Image draw_again() {
    ImDrawData* const data = ImGui::GetDrawData();
    const auto pixels = [](float size, float scale) { return int(std::lround(size * scale)); };
    const int width = pixels(data->DisplaySize.x, data->FramebufferScale.x);
    const int height = pixels(data->DisplaySize.y, data->FramebufferScale.y);
    AFT_CHECK(std::max(width, height) <= viz::gl::max_texture_size(),
              "{} x {} pixels are more than OpenGL draws here, {} a side: take a smaller scale",
              width, height, viz::gl::max_texture_size());
    const viz::gl::KeepTarget kept;
    const viz::gl::Framebuffer target(width, height);
    target.clear(0, 1);
    ImGui_ImplOpenGL3_RenderDrawData(data);
    return target.read(true);
}

}  // namespace

Image middle_of(const Image& whole, const DuePicture& due) {
    const float scale = ImGui::GetIO().DisplayFramebufferScale.x;
    const auto pixel = [&](float at, int64_t most) {
        return std::clamp<int64_t>(std::llround(at * scale), 0, most);
    };
    const int64_t left = pixel(due.low.x, whole.width), right = pixel(due.high.x, whole.width);
    const int64_t top = pixel(due.low.y, whole.height), bottom = pixel(due.high.y, whole.height);
    if (left >= right || top >= bottom) fail("nothing is shown");
    Image out{right - left, bottom - top, whole.channels, {}};
    for (int64_t y = top; y < bottom; ++y) {
        const auto row = whole.pixels.begin() + (y * whole.width + left) * whole.channels;
        out.pixels.insert(out.pixels.end(), row, row + out.width * out.channels);
    }
    return out;
}

FrameReader gl_reader() {
    return {.pixels = draw_again, .texture = [](ImTextureID texture) {
                return viz::gl::read_texture(static_cast<unsigned>(texture));
            }};
}

void begin_picture_frame(Ui& ui) {
    ui.numbers = nullptr;
    if (!ui.picture.is_due()) return;
    ImGuiIO& io = ImGui::GetIO();
    if (!is_of_numbers(ui.picture.request.path))
        io.ConfigFlags |= ImGuiConfigFlags_NoMouse;  // the pointer marks nothing in it
    if (!ui.picture.is_now()) return;
    if (is_svg(ui.picture.request.path)) set_smooth_edges(false);
    ImVec2& density = io.DisplayFramebufferScale;
    density = {density.x * float(ui.picture.request.scale),
               density.y * float(ui.picture.request.scale)};
    ui.picture.numbers = {};
    ui.picture.numbers.pane = [&ui] { return pane_id(ui.recorder); };
    if (is_of_numbers(ui.picture.request.path)) ui.numbers = &ui.picture.numbers;
}

bool take_due_picture(Ui& ui, const FrameReader& source) {
    report(ui);
    if (!ui.picture.is_due() || --ui.picture.frames > 0) return false;
    std::string error;
    if (is_of_numbers(ui.picture.request.path)) {
        std::string unread;
        error = error_words([&] { unread = unread_words(ui); }, plain_words);
        if (!unread.empty()) {  // again in a moment
            ui.picture.frames = 2;
            ui.want_frame_at(ui.time + 0.05);
            return false;
        }
    }
    ui.picture.waited_since = 0;
    const PictureRequest request = std::exchange(ui.picture.request, {});
    std::function<void()> write;
    if (error.empty())
        error = error_words([&] { write = writing(ui, source, request); }, plain_words);
    ImGuiIO& io = ImGui::GetIO();
    io.ConfigFlags &= ~ImGuiConfigFlags_NoMouse;
    set_smooth_edges(true);
    io.DisplayFramebufferScale = {io.DisplayFramebufferScale.x / float(request.scale),
                                  io.DisplayFramebufferScale.y / float(request.scale)};
    ui.numbers = nullptr;
    ui.picture.numbers = {};
    if (!error.empty()) {
        say_outcome(ui, request.path, error);
        return true;
    }
    ui.picture.work.start(
        [write = std::move(write), path = request.path, number = ++ui.picture.started](
            const auto& publish, const std::stop_token&) {
            publish({.path = path, .error = error_words(write, plain_words), .number = number});
        });
    ui.want_frame_at(ui.time + 0.05);
    return true;
}

}  // namespace aft::app
