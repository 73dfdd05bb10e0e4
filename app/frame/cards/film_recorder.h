// FilmRecorder: goes through stored steps, or through the positions of a completion, and makes a
// film of what the panes in the middle show: sets the place, draws until all that is shown has been
// read, has the host take the frame, and writes it in a thread of its own, one frame behind. Window
// thread; every method returns at once, but the destructor waits for the frame that is being
// written.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/frame/layouts.h"
#include "app/state/background.h"
#include "app/state/ui.h"
#include "core/film/film.h"

namespace aft::app {

enum class FilmKind { scrub, generation };

struct FilmRequest {
    FilmKind kind = FilmKind::scrub;
    std::string path;
    int frames_per_second = 10;
    std::vector<int64_t> places;  // a frame each: stored steps, or positions in their order
};

class FilmRecorder {
  public:
    FilmRecorder() = default;
    ~FilmRecorder();
    FilmRecorder(const FilmRecorder&) = delete;
    FilmRecorder& operator=(const FilmRecorder&) = delete;

    void start(Ui& ui, FilmRequest request);  // only where is_busy() is false
    [[nodiscard]] bool is_recording() const { return recording_.has_value(); }
    [[nodiscard]] bool is_busy() const { return is_recording() || work_.is_busy(); }
    void cancel(Ui& ui);   // nothing is left of the film
    void prepare(Ui& ui);  // before a frame: what it shows
    // After it. is_covered: something lies over the panes.
    void note_drawn(Ui& ui, bool is_covered);
    void draw(Ui& ui, const FrameAreas& areas, ImVec2 display);  // how far it is, over the status

  private:
    struct FilmBefore {  // what is put back at the end
        const Session* session = nullptr;
        int64_t step = -1, position = -1;
        uint64_t completion_id = 0;
        std::shared_ptr<const Completion> completion;
    };
    struct FilmOutput {  // of the other thread while that is busy
        std::string path;
        FilmShape shape;  // of the first frame
        std::stop_token stop;
        std::optional<FilmWriter> writer;
    };
    struct Recording {
        FilmRequest request;
        FilmBefore before;
        Workspace workspace = Workspace::home;  // that is filmed, from the first frame on
        size_t at = 0;        // of request.places; behind them: the end is being written
        int shown = 0;        // frames in a row that showed all of this place
        int64_t missed = -1;  // answers, before the frame that is being drawn
        std::chrono::steady_clock::time_point since;  // of this place
        bool was_resized = false, is_ending = false;
        std::stop_source stop;
        std::shared_ptr<const Completion> cut;  // as it was at place `cut_at` of request.places
        int64_t cut_at = -1;
        std::shared_ptr<FilmOutput> output;  // null before the first frame
    };
    struct FrameWritten {
        std::string error;  // "" = it is
    };
    void write(std::optional<Image> frame);  // none: the end
    void take(Ui& ui, Image frame);
    void show(ViewState& ui);
    void end(Ui& ui);  // without a word
    void fail(Ui& ui, const std::string& why);
    std::optional<Recording> recording_;
    Background<FrameWritten> work_;
};

// The completion as it was when this position had just been decided.
[[nodiscard]] Completion completion_until(const Completion& whole, int64_t position);

}  // namespace aft::app
