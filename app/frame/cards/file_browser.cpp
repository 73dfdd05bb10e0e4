// The file browser: folders, what can be opened in them, a filter, a sort, and a typed path.
#include "app/frame/cards/file_browser.h"

#include <fmt/format.h>

#include <imgui_internal.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <utility>

#include "app/frame/cards/overlays.h"
#include "app/frame/data_location.h"
#include "app/state/open_path.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/clock.h"
#include "core/images/image.h"
#include "core/text.h"
#include "model/model_files.h"

namespace aft::app {

namespace fs = std::filesystem;

namespace {

std::string date_words(int64_t seconds) {
    const std::time_t time = seconds;
    char words[32] = "";
    std::strftime(words, sizeof words, "%Y-%m-%d %H:%M", std::localtime(&time));
    return words;
}

bool can_be_opened(const fs::path& path) {
    return is_checkpoint_file(path.string()) || is_image_file(path) || path.extension() == ".json";
}

bool contains_word(std::string_view text, std::string_view word) {
    return std::search(text.begin(), text.end(), word.begin(), word.end(), [](char a, char b) {
               return std::tolower(static_cast<unsigned char>(a)) ==
                      std::tolower(static_cast<unsigned char>(b));
           }) != text.end();
}

}  // namespace

void FileBrowser::open(const ViewState& ui, const BrowseFiles& what) {
    is_open_ = is_new_ = true;
    question_ = what.question;
    for_data_ = what.for_data || !question_.empty();
    std::error_code ignored;
    fs::path start = ui.settings.last_folder;
    if (start.empty() || !fs::is_directory(start, ignored)) start = fs::current_path(ignored);
    go(start);
}

void FileBrowser::go(const fs::path& folder) {
    folder_ = folder.lexically_normal();
    if (!folder_.has_filename() && folder_.has_relative_path()) folder_ = folder_.parent_path();
    typed_ = folder_.string();
    list_.filter.clear();
    selected_.clear();
    read_folder();
}

void FileBrowser::read_folder() {
    entries_.clear();
    problem_.clear();
    std::error_code problem;
    fs::directory_iterator at(folder_, fs::directory_options::skip_permission_denied, problem);
    if (problem) {
        problem_ = fmt::format("{} cannot be read: {}", folder_.string(), problem.message());
        return;
    }
    constexpr size_t kMostEntries = 5000;
    for (const fs::directory_iterator end; at != end && !problem; at.increment(problem)) {
        std::error_code ignored;
        FileEntry entry{.name = at->path().filename().string()};
        if (entry.name.starts_with('.')) continue;
        entry.is_folder = at->is_directory(ignored);
        entry.is_run = is_run_folder(at->path());
        if (!entry.is_folder) entry.bytes = at->file_size(ignored);
        entry.changed = unix_seconds(at->last_write_time(ignored));
        entries_.push_back(std::move(entry));
        if (entries_.size() < kMostEntries) continue;
        problem_ = fmt::format("only the first {} entries are shown", kMostEntries);
        break;
    }
    std::sort(entries_.begin(), entries_.end(), [this](const FileEntry& a, const FileEntry& b) {
        if (a.is_folder != b.is_folder) return a.is_folder;
        if (list_.sort == 1 && a.changed != b.changed) return a.changed > b.changed;
        if (list_.sort == 2 && a.bytes != b.bytes) return a.bytes > b.bytes;
        return a.name < b.name;
    });
}

void FileBrowser::take_typed(PaneContext& ui) {
    std::error_code ignored;
    fs::path wanted = typed_;
    if (wanted.is_relative()) wanted = folder_ / wanted;
    if (fs::is_directory(wanted, ignored) && !is_run_folder(wanted)) {
        go(wanted);
        return;
    }
    if (for_data_) return take_data(ui);
    const Opening opening = classify_path(wanted.string(), ui.session != nullptr);
    if (opening.kind == Opening::impossible) {
        problem_ = opening.words;
        is_new_ = true;  // the path has the focus again
        return;
    }
    is_open_ = false;
    ui.settings.last_folder = folder_.string();
    ui.commands.send(OpenPath{wanted.string()});
}

// The chosen folder or file itself, not what is in it.
void FileBrowser::take_data(PaneContext& ui) {
    std::error_code ignored;
    fs::path wanted = typed_;
    if (wanted.is_relative()) wanted = folder_ / wanted;
    if (!fs::exists(wanted, ignored)) {
        problem_ = fmt::format("{}: there is no such file or folder", wanted.string());
        is_new_ = true;
        return;
    }
    is_open_ = false;
    ui.settings.last_folder = folder_.string();
    if (question_.empty()) return choose_data(ui, wanted.string());
    ui.file_chosen = fs::absolute(wanted, ignored).lexically_normal().string();
    ui.want_frames(3);
}

void FileBrowser::choose(PaneContext& ui, const FileEntry& entry) {
    typed_ = (folder_ / entry.name).string();
    if (entry.is_folder && !entry.is_run) {
        go(folder_ / entry.name);
        return;
    }
    take_typed(ui);
}

void FileBrowser::draw_head(PaneContext& ui) {
    ui.recorder.set_section("Where##where");
    const std::string& source = ui.status.config.data.source;
    const std::string data = !question_.empty() ? question_
                             : source.empty()   ? "Which data shall this model see?"
                                                : "Where are the data? " + source;
    text(ui, for_data_ ? data : "Open a checkpoint, a run or a picture",
         {text_size::empty, ui.theme.text1, Face::semibold});
    ImGui::Dummy({1, ui.px(2)});
    if (button(ui, {.name = "Up##up",
                    .icon = icon::up,
                    .kind = ButtonKind::icon,
                    .tip = "The folder above"}))
        go(folder_.parent_path());
    ImGui::SameLine();
    const float available = ImGui::GetContentRegionAvail().x / ui.scale;
    const TextEdit edit = text_field(ui,
                                     {.name = "Path##path",
                                      .hint = "folder or file",
                                      .width = available - 84,
                                      .focus = std::exchange(is_new_, false),
                                      .mono = true,
                                      .tip = "A folder to look into, or a file to open."},
                                     typed_);
    ImGui::SameLine();
    if (button(ui, {.name = "Go##go", .tip = "Opens what is typed.", .width = 76}) ||
        edit.is_submitted)
        take_typed(ui);
    text_field(ui,
               {.name = "Filter##filter",
                .hint = "Filter by name",
                .icon = icon::search,
                .width = 260,
                .tip = "Shows the entries that have these letters."},
               list_.filter);
    ImGui::SameLine();
    static const std::vector<Choice> kKinds = {{"Can be opened##can_be_opened"},
                                               {"Everything##everything"}};
    if (!for_data_) {
        segmented(ui, "Show##show", list_.kind,
                  {.list = kKinds, .tip = "Only what can be opened here, or all files."});
        ImGui::SameLine();
    }
    static const std::vector<Choice> kSorts = {{"Name##name"}, {"Date##date"}, {"Size##size"}};
    if (segmented(ui, "Sort##sort", list_.sort,
                  {.list = kSorts, .tip = "The order of the entries; folders come first."}))
        read_folder();
}

void FileBrowser::draw_list(PaneContext& ui, float height) {
    ui.recorder.set_section("Files##files");
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    ImGui::BeginChild("files", {0, height}, ImGuiChildFlags_NavFlattened);
    const FileEntry* chosen = nullptr;
    int shown = 0;
    for (const FileEntry& entry : entries_) {
        const bool fits =
            entry.is_folder || for_data_ || list_.kind == 1 || can_be_opened(entry.name);
        if (!fits || !contains_word(entry.name, list_.filter)) continue;
        ++shown;
        const Row line = row(ui, WidgetName::data(entry.name),
                             {26, entry.name == selected_,
                              entry.is_run ? "run" : (entry.is_folder ? "folder" : "file")});
        if (line.pressed) selected_ = entry.name, typed_ = (folder_ / entry.name).string();
        if (line.double_clicked || (line.pressed && ImGui::GetIO().NavVisible)) chosen = &entry;
        if (!ImGui::IsRectVisible(line.min, line.max)) continue;
        const float middle = (line.min.y + line.max.y) / 2,
                    y = middle - ui.px(text_size::label) / 2;
        const char* mark = entry.is_run                ? icon::chart
                           : entry.is_folder           ? icon::folder
                           : is_image_file(entry.name) ? icon::picture
                                                       : icon::file;
        icon_at(ui, {line.min.x + ui.px(16), middle}, mark,
                {text_size::icon_inline, entry.is_run ? ui.theme.accent : ui.theme.text3});
        text_at(ui, {line.min.x + ui.px(32), y}, entry.name,
                {text_size::label, ui.theme.text1, Face::regular,
                 line.max.x - line.min.x - ui.px(300)});
        if (!entry.is_folder)
            text_right(ui, {line.max.x - ui.px(150), y},
                       byte_size(static_cast<double>(entry.bytes)),
                       {text_size::hint, ui.theme.text3});
        text_right(ui, {line.max.x - ui.px(12), y}, date_words(entry.changed),
                   {text_size::hint, ui.theme.text3});
    }
    if (shown == 0 && problem_.empty())
        text(ui, "Nothing here can be opened. Choose another folder, or show everything.",
             {text_size::label, ui.theme.text2});
    ImGui::EndChild();
    ImGui::PopStyleVar();
    if (chosen != nullptr)
        choose(ui, FileEntry(*chosen));  // a copy: going elsewhere clears the list
}

void FileBrowser::draw_foot(PaneContext& ui) {
    ui.recorder.set_section("Answer##answer");
    if (!problem_.empty()) draw_problem(ui, problem_);
    const float available = ImGui::GetContentRegionAvail().x;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + available - ui.px(208));
    if (button(ui, {.name = "Cancel##cancel",
                    .kind = ButtonKind::ghost,
                    .tip = "Closes this card; nothing changes.",
                    .width = 96,
                    .height = 32}))
        is_open_ = false;
    ImGui::SameLine();
    const std::string why = typed_.empty() ? "Choose a file or type a path." : "";
    if (button(ui, {.name = for_data_ ? "Use this##accept" : "Open##accept",
                    .kind = ButtonKind::primary,
                    .why_not = why,
                    .tip = "Takes what stands in the path above.",
                    .width = 104,
                    .height = 32}))
        for_data_ ? take_data(ui) : take_typed(ui);
}

void FileBrowser::draw(PaneContext& ui, ImVec2 display) {
    if (!is_open_) return;
    const float width = std::min(ui.px(860), display.x - ui.px(32));
    const float height = std::min(ui.px(600), display.y - ui.px(110));
    const OverlayScope card(ui, "Open card", {std::floor((display.x - width) / 2), ui.px(72)},
                            {width, height});
    if (ImGui::IsKeyPressed(ImGuiKey_Escape)) is_open_ = false;
    ImGui::SetCursorPos({ui.px(18), ui.px(14)});
    ImGui::BeginChild("inside", {width - ui.px(36), height - ui.px(28)},
                      ImGuiChildFlags_NavFlattened);
    draw_head(ui);
    const float foot = ui.px(problem_.empty() ? 52 : 78);
    draw_list(ui, std::max(ui.px(60), ImGui::GetContentRegionAvail().y - foot));
    draw_foot(ui);
    ImGui::EndChild();
}

}  // namespace aft::app
