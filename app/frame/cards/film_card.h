// FilmCard: "Save film...": asks what goes through the film, how fast and into which file, and has
// the recorder make it. Window thread, inside a frame; looks at the path, writes nothing.
#pragma once
#include <imgui.h>

#include <string>
#include <vector>

#include "app/frame/cards/film_recorder.h"
#include "app/state/ui.h"

namespace aft::app {

class FilmCard {
  public:
    void open(const ViewState& ui);
    [[nodiscard]] bool is_open() const { return is_open_; }
    void draw(Ui& ui, FilmRecorder& recorder, ImVec2 display);

  private:
    void draw_choices(PaneContext& ui);
    void draw_range(PaneContext& ui);
    void save(Ui& ui, FilmRecorder& recorder);
    [[nodiscard]] std::vector<int64_t> places(const ViewState& ui) const;
    bool is_open_ = false, is_new_ = false;
    int kind_ = 0;  // FilmKind
    int64_t from_ = 0, to_ = 0, most_ = 200, per_second_ = 10;
    std::string file_, problem_;
};

void add_film_actions(Actions& actions, FilmCard& card, const FilmRecorder& recorder);

}  // namespace aft::app
