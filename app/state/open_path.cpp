#include "app/state/open_path.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/state/sweep_table.h"
#include "core/caught.h"
#include "core/images/image.h"
#include "core/json.h"
#include "core/text.h"
#include "model/jobs/import.h"
#include "model/jobs/summary.h"
#include "model/model_files.h"
#include "model/system.h"

namespace aft::app {

namespace fs = std::filesystem;

namespace {

// Of a file of others: how import is called, or why it does not take this one.
std::string foreign_words(const std::string& path, std::string_view what) {
    std::string refusal = import_refusal(path);
    refusal.resize(std::min(refusal.size(), refusal.find('\n')));
    if (refusal.starts_with(path + ": ")) refusal.erase(0, path.size() + 2);
    if (refusal.empty())
        return fmt::format("{}: {}; afterimage import {} -o MODEL.safetensors makes a model of it",
                           path, what, shell_word(path));
    return fmt::format("{}: {}, and import says: {}", path, what, refusal);
}

// What cannot be opened must not close what is open: its header is read before.
Opening as_model(const std::string& path, Workspace workspace) {
    std::string words = error_words([&] { check_model(path); }, plain_words);
    if (is_checkpoint_file(path) && words.find("weights of others") != std::string::npos)
        words = foreign_words(path, "a file of tensors, but not an Afterimage checkpoint");
    if (!words.empty()) return {.words = std::move(words)};
    return {.kind = Opening::model, .workspace = workspace, .words = {}};
}

// By its name none of the files that can be opened: "runs/lr0.001".
bool is_like_folder(const std::string& path) {
    return !is_checkpoint_file(path) && !is_image_file(path) &&
           fs::path(path).extension() != ".json";
}

// A recipe, whole or broken: the Lab says what is wrong with it.
bool is_recipe(const std::string& path) {
    constexpr uint64_t kMostBytes = 1 << 20;
    if (fs::path(path).extension() != ".json") return false;
    bool has_key = false;
    // What cannot be read is no recipe: whoever opens it says what is wrong.
    (void)error_words([&] {
        has_key = read_json_file(path, kMostBytes, ErrorKind::usage).contains("afterimage_recipe");
    });
    return has_key;
}

// A folder with nothing in it but a lock.
bool is_bare(const std::string& path) {
    std::error_code problem;
    for (auto it = fs::directory_iterator(path, problem); !problem && it != fs::end(it);
         it.increment(problem))
        if (it->path().filename() != "run.lock") return false;
    return !problem;
}

// Home shows a sweep; whoever asks for a model takes one of its runs.
std::string sweep_words(const std::string& path) {
    const std::string run = run_of_sweep(path);
    return run.empty() ? path + ": the folder of a sweep, without the runs: take one of those"
                       : fmt::format("{}: the folder of a sweep: take one of its runs, as {}", path,
                                     (fs::path(path) / run).string());
}

}  // namespace

Opening classify_path(const std::string& path, bool has_session) {
    std::error_code problem;
    const fs::file_status status = fs::status(path, problem);
    if (!fs::exists(status))
        return {.words = fmt::format("{}: there is no such file or folder", path),
                .may_come = is_like_folder(path)};
    if (fs::is_directory(status)) {
        if (is_run_folder(path)) return as_model(path, Workspace::train);
        if (is_sweep_folder(path)) return {.words = sweep_words(path)};
        return {.words = fmt::format(
                    "{}: not a run folder (it has no config.json), nor a sweep's (no table.json)",
                    path),
                .may_come = is_bare(path)};
    }
    if (is_image_file(path)) {
        if (has_session) return {.kind = Opening::picture, .words = {}};
        return {.words = fmt::format("{}: open a model first; then this picture can be completed",
                                     path)};
    }
    if (is_checkpoint_file(path)) return as_model(path, Workspace::biases);
    if (is_recipe(path))
        return {.kind = Opening::recipe, .words = path + ": a recipe; it is opened in the Lab"};
    if (fs::path(path).extension() == ".json") return {.kind = Opening::view, .words = {}};
    for (const char* const of_pytorch : {".pt", ".pth", ".bin", ".ckpt"})
        if (fs::path(path).extension() == of_pytorch)
            return {.words = foreign_words(path, "a file of PyTorch")};
    return {.words = fmt::format(
                "{}: not known; a checkpoint (.safetensors), a run folder, a picture (.png, "
                ".jpg, .bmp, .ppm), a saved view or a recipe (.json) can be opened",
                path)};
}

std::string whole_path(const std::string& path) {
    std::error_code ignored;
    return path.empty() ? path : fs::absolute(path, ignored).lexically_normal().string();
}

std::string model_name(const Status& status) {
    if (status.path.empty()) return status.name;
    const fs::path path(whole_path(status.path));
    if (!is_checkpoint_file(status.path)) return shown_name(path.string());
    if (!path.stem().string().starts_with("step-")) return path.stem().string();
    // Of a run: runs/NAME/checkpoints/step-00000030.safetensors
    const bool is_of_run = path.parent_path().filename() == "checkpoints";
    return is_of_run ? shown_name(path.parent_path().parent_path().string()) : status.name;
}

RecentItem recent_item(const std::string& path) {
    const std::string absolute = whole_path(path);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return {.path = absolute,
            .name = shown_name(absolute),
            .what = {},
            .opened = std::chrono::duration_cast<std::chrono::seconds>(now).count()};
}

RecentItem sweep_item(const std::string& folder) {
    RecentItem item = recent_item(folder);
    item.what = kSweepItem;
    return item;
}

ImU32 run_color(const PaneContext& ui, const std::string& path) {
    for (const RecentItem& item : ui.settings.recent)
        if (is_same_path(item.path, path)) return ui.theme.series[size_t(item.color)];
    return ui.theme.series[kLoneColor];
}

bool is_same_path(const std::string& a, const std::string& b) {
    return a == b || whole_path(a) == whole_path(b);
}

// A saved step that was opened, to branch from it say, is a part of its run: that one is listed.
std::vector<std::string> of_runs(const std::vector<std::string>& paths) {
    std::vector<std::string> out;
    for (const std::string& path : paths) {
        const std::string run = run_of_step(path);
        const std::string& listed = run.empty() ? path : run;
        const bool is_known = std::any_of(out.begin(), out.end(), [&](const std::string& other) {
            return is_same_path(other, listed);
        });
        if (!is_known) out.push_back(listed);
    }
    return out;
}

}  // namespace aft::app
