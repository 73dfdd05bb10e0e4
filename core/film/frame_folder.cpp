// A folder of numbered PNGs: FOLDER/NAME-0001.png and so on.
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/files.h"
#include "core/film/sinks.h"
#include "core/outside.h"

namespace aft {
namespace {

// "scrub" of "films/scrub/"; what "." stands for.
std::string folder_name(const fs::path& folder) {
    std::error_code ignored;
    fs::path whole = fs::absolute(folder, ignored).lexically_normal();
    if (!whole.has_filename()) whole = whole.parent_path();
    const std::string name = whole.filename().string();
    return name.empty() ? "frame" : name;
}

class FolderSink : public FilmSink {
  public:
    explicit FolderSink(const fs::path& folder) : folder_(folder), name_(folder_name(folder)) {
        check_film_folder(folder);
        std::error_code ignored;
        is_own_ = !fs::exists(folder, ignored);
        make_folder(folder);
    }
    ~FolderSink() override {
        if (is_finished_) return;
        std::error_code ignored;
        for (const fs::path& frame : frames_) fs::remove(frame, ignored);
        if (is_own_) fs::remove(folder_, ignored);  // stays where something else lies in it
    }
    FolderSink(const FolderSink&) = delete;
    FolderSink& operator=(const FolderSink&) = delete;
    void add(const Image& frame) override {
        const fs::path path = folder_ / fmt::format("{}-{:04}.png", name_, frames_.size() + 1);
        write_png(path, frame);
        frames_.push_back(path);
    }
    void finish() override { is_finished_ = true; }

  private:
    fs::path folder_;
    std::string name_;
    std::vector<fs::path> frames_;
    bool is_own_ = false, is_finished_ = false;
};

}  // namespace

// Frames of another film in between would be taken for this one's.
void check_film_folder(const fs::path& folder) {
    std::error_code error;
    const std::string name = folder_name(folder);
    if (!fs::exists(folder, error)) {
        fs::path parent = folder.has_filename() ? folder : folder.parent_path();
        parent = parent.parent_path();
        if (parent.empty()) parent = ".";
        AFT_CHECK(fs::is_directory(parent, error),
                  "cannot write the film '{}': there is no folder '{}'",
                  shown_path(folder.string()), shown_path(parent.string()));
        return check_writable(parent / name);
    }
    check_writable(folder / fmt::format("{}-0001.png", name));
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string found = entry.path().filename().string();
        const bool is_frame = found.starts_with(name + "-") && entry.path().extension() == ".png";
        AFT_CHECK(!is_frame,
                  "cannot write the film '{}': the folder holds '{}' already; choose another "
                  "folder, or empty it",
                  shown_path(folder.string()), shown(found));
    }
}

std::unique_ptr<FilmSink> folder_sink(const fs::path& folder) {
    return std::make_unique<FolderSink>(folder);
}

}  // namespace aft
