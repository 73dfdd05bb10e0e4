// FileBrowser: chooses a checkpoint, a run, a picture, or where the data of the open model lie.
// Window thread, inside a frame; reads a folder when it is shown.
#pragma once
#include <imgui.h>

#include <filesystem>
#include <string>
#include <vector>

#include "app/state/ui.h"

namespace aft::app {

class FileBrowser {
  public:
    void open(const ViewState& ui, const BrowseFiles& what = {});
    [[nodiscard]] bool is_open() const { return is_open_; }
    void close() { is_open_ = false; }
    void draw(PaneContext& ui, ImVec2 display);

  private:
    struct FileEntry {
        std::string name;
        bool is_folder = false, is_run = false;
        uint64_t bytes = 0;
        int64_t changed = 0;
    };
    void read_folder();
    void go(const std::filesystem::path& folder);
    void draw_head(PaneContext& ui);
    void draw_list(PaneContext& ui, float height);
    void draw_foot(PaneContext& ui);
    void choose(PaneContext& ui, const FileEntry& entry);
    void take_typed(PaneContext& ui);
    void take_data(PaneContext& ui);
    bool is_open_ = false, is_new_ = false, for_data_ = false;
    std::string question_;  // of the form that asked; "" = none did
    std::filesystem::path folder_;
    std::string typed_, problem_;
    std::vector<FileEntry> entries_;
    struct List {
        std::string filter{};
        int sort = 0;  // name, changed, size
        int kind = 0;  // what is shown: models and pictures, everything
    } list_;
    std::string selected_;
};

}  // namespace aft::app
