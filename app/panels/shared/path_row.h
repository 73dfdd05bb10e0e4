// PathRow: a path that is typed in a popup, the button that takes it, and what is wrong with it
// below. Window thread, inside a frame; the files are looked at when the path is submitted.
#pragma once
#include <functional>
#include <string>

#include "app/state/draw_context.h"

namespace aft::app {

class PathRow {
  public:
    struct PathWords {
        WidgetName field;
        std::string hint;
        const char* icon = "";
        std::string tip;
        WidgetName button;
        std::string shown, button_tip;
        WidgetName problem;  // of the line below, for the dump
        float width = 300;   // of the field, at scale 1
    };
    // `take` uses the path and says what is wrong with it ("" = nothing). True when it was taken.
    bool draw(DrawContext& ui, const PathWords& words,
              const std::function<std::string(const std::string&)>& take);
    void forget_problem() { problem_.clear(); }
    void clear() { path_.clear(); }
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_, problem_;
};

}  // namespace aft::app
