// Log: what happened, newest last, with a filter: log.txt of the open run, and messages of the
// window and the session.
#include <algorithm>
#include <system_error>

#include "app/panels/panel.h"
#include "app/state/background.h"
#include "app/state/icons.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/caught.h"
#include "core/event_words.h"
#include "core/files.h"
#include "core/outside.h"
#include "core/text.h"

namespace aft::app {
namespace {

constexpr uint64_t kMostBytes = uint64_t{64} << 10;
constexpr size_t kMostLines = 200;
constexpr double kBetweenReads = 1;  // seconds

struct RunLines {
    uint64_t opened = 0;  // the session that they are of
    std::vector<std::string> lines{};
};

// The last lines of a run's log.txt, as they can be shown; none where there is no such file.
// Blocks.
std::vector<std::string> last_lines(const fs::path& file) {
    std::error_code error;
    const uint64_t size = fs::file_size(file, error);
    if (error) return {};
    const uint64_t bytes = std::min(size, kMostBytes);
    std::string text;
    const std::string problem =
        error_words([&] { text = read_file_part(file, size - bytes, bytes); });
    if (!problem.empty()) return {"log.txt cannot be read: " + printable_line(problem)};
    std::vector<std::string> lines = split(text, '\n');
    if (bytes < size && !lines.empty()) lines.erase(lines.begin());  // its beginning is cut off
    for (std::string& line : lines) line = log_line_words(line);
    std::erase(lines, "");
    if (lines.size() > kMostLines) lines.erase(lines.begin(), lines.end() - kMostLines);
    for (std::string& line : lines) line = printable_line(line);
    return lines;
}

class LogPanel final : public Panel {
  public:
    void draw(Ui& ui) override {
        read(ui);
        const auto last = reader_.latest();
        const bool has_run = last && last->opened == ui.opened && ui.has_model();
        static const std::vector<std::string> kNone;
        const std::vector<std::string>& of_run = has_run ? last->lines : kNone;
        if (ui.log.empty() && of_run.empty() && ui.step_notes.empty()) {
            hint(ui, "Messages of the window and of the open run appear here.");
            return;
        }
        text_field(ui,
                   {.name = "Filter##filter",
                    .hint = "Filter messages",
                    .icon = icon::search,
                    .tip = "Shows the messages that have these letters."},
                   filter_);
        ImGui::BeginChild("lines");
        const size_t from_run = draw_run(ui, of_run), notes = draw_notes(ui);
        const size_t shown = draw_messages(ui);
        const size_t all = ui.log.size() + of_run.size();
        if (shown_ != all) ImGui::SetScrollHereY(1);
        shown_ = all;
        ImGui::EndChild();
        ui.recorder.item("value", ui.recorder.claim("Lines##lines"),
                         fmt::format("{} of {}", shown, ui.log.size()));
        ui.recorder.item("value", ui.recorder.claim("Run lines##run_lines"),
                         fmt::format("{} of {}{}", from_run, of_run.size(),
                                     last_shown_.empty() ? "" : ": " + last_shown_));
        if (!ui.step_notes.empty())
            ui.recorder.item("value", ui.recorder.claim("Notes##notes"),
                             fmt::format("{} of {}", notes, ui.step_notes.size()));
    }

  private:
    [[nodiscard]] bool is_hidden(const std::string& line) const {
        return !filter_.empty() && line.find(filter_) == std::string::npos;
    }

    // Again when the run has something new, at most once a second.
    void read(Ui& ui) {
        if (!ui.has_model() || reader_.is_busy()) return;
        const std::string now = fmt::format("{} {} {} {}", ui.opened, ui.status.path,
                                            ui.curves->version, ui.status.message);
        if (now == read_for_) return;
        if (read_of_ == ui.opened && ui.time < read_at_ + kBetweenReads)
            return ui.want_frame_at(read_at_ + kBetweenReads);
        read_for_ = now;
        read_of_ = ui.opened;
        read_at_ = ui.time;
        ui.want_frames(3);
        reader_.start([file = fs::path(ui.status.path) / "log.txt", opened = ui.opened](
                          const auto& publish, const std::stop_token&) {
            publish({.opened = opened, .lines = last_lines(file)});
        });
    }

    size_t draw_run(DrawContext& ui, const std::vector<std::string>& lines) {
        size_t shown = 0;
        last_shown_.clear();
        if (!lines.empty())
            text(ui, "log.txt of this run", {text_size::hint, ui.theme.text3, Face::semibold});
        for (const std::string& line : lines) {
            if (is_hidden(line)) continue;
            ++shown;
            text_wrapped(ui, line, text_size::hint, ui.theme.text2);
            last_shown_ = line;
        }
        return shown;
    }

    // At steps of the run, wherever they are kept.
    size_t draw_notes(const PaneContext& ui) const {
        size_t shown = 0;
        for (const auto& [step, note] : ui.step_notes) {
            const std::string line = fmt::format("step {}  {}", group_thousands(step), note);
            if (is_hidden(line)) continue;
            if (++shown == 1)
                text(ui, "Notes at steps", {text_size::hint, ui.theme.text3, Face::semibold});
            text_wrapped(ui, line, text_size::hint, ui.theme.text2);
        }
        return shown;
    }

    size_t draw_messages(Ui& ui) const {
        size_t shown = 0;
        if (!last_shown_.empty() || !ui.step_notes.empty())
            text(ui, "This window", {text_size::hint, ui.theme.text3, Face::semibold});
        for (const LogLine& line : ui.log) {
            if (is_hidden(line.text)) continue;
            ++shown;
            const bool error = line.kind == "error", warning = line.kind == "warning";
            text(ui, fmt::format("{:7.1f} s  {}", line.time, line.kind),
                 {text_size::hint,
                  error     ? ui.theme.error
                  : warning ? ui.theme.warn
                            : ui.theme.text3,
                  Face::mono});
            text_wrapped(ui, line.text, text_size::hint, error ? ui.theme.text1 : ui.theme.text2);
        }
        return shown;
    }

    std::string filter_, last_shown_;
    size_t shown_ = 0;
    Background<RunLines> reader_;
    std::string read_for_;  // what it was read for, when, and of which session
    double read_at_ = 0;
    uint64_t read_of_ = 0;
};

}  // namespace

PanelRoom log_panel() {
    std::vector<PanelPlace> places;
    for (const Workspace workspace : {Workspace::train, Workspace::biases, Workspace::attention,
                                      Workspace::compare, Workspace::lab})
        places.push_back({workspace, Slot::left, 1});
    return {.info = {"Log", "What happened, newest last."},
            .id = "log",
            .icon = icon::text,
            .help =
                "The last lines of log.txt of the open run, its notes at steps, then every message "
                "of the window, with "
                "the seconds since the start. Errors also stay behind the bell at the top right.",
            .places = places,
            .make = make_panel<LogPanel>};
}

}  // namespace aft::app
