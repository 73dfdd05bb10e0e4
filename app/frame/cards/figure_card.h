// FigureCard: "Save as figure...": lists the figures of the open model, those that it cannot make
// with the reason, and writes one as SVG or PNG by the job of the command `figure`, in a thread of
// its own. Window thread, inside a frame; every method returns at once.
#pragma once
#include <imgui.h>

#include <string>

#include "app/figures/figure.h"
#include "app/state/background.h"
#include "app/state/ui.h"

namespace aft::app {

class FigureCard {
  public:
    void open(const Ui& ui);  // on the figure of what is shown
    [[nodiscard]] bool is_open() const { return is_open_; }
    void draw(Ui& ui, ImVec2 display);
    void report(Ui& ui);  // once a frame: what became of the work, as a toast

  private:
    struct SavedFigure {
        std::string file, error;  // error "" = written
        uint64_t number = 0;
    };
    void draw_rows(PaneContext& ui, float height);
    void draw_foot(Ui& ui);
    void draw_looks(Ui& ui);
    void choose(const ViewState& ui, const std::string& figure);
    void start(Ui& ui);
    bool is_open_ = false, is_new_ = false;
    std::string figure_, file_, view_;  // view_: of which model and pane it was opened last
    int format_ = 0, ground_ = 0;       // SVG, PNG; light, dark
    uint64_t started_ = 0, reported_ = 0;
    Background<SavedFigure> work_;
};

// Why the open model cannot make this figure; "" = it can.
[[nodiscard]] std::string why_not_figure(const ModelView& ui, const FigureRoom& room);
// What the command would be asked for: the saved step that is shown, else the newest one.
[[nodiscard]] FigureRequest figure_request(const ViewState& ui, const std::string& figure);
// `afterimage figure ...`, which writes the same picture into this file.
[[nodiscard]] std::string figure_command_line(const FigureRequest& request, const std::string& file,
                                              bool is_dark);
void add_figure_actions(Actions& actions, FigureCard& card);

}  // namespace aft::app
