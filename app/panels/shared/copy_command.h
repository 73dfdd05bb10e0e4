// "Copy as command": the command line that answers what a pane shows, on the clipboard. Window
// thread; reads no files.
#pragma once
#include <string>

#include "app/panels/shared/watch.h"
#include "app/state/ui.h"
#include "app/widgets/buttons.h"

namespace aft::app {

// "images:photos?split=test": the data that the window looks at, with the part that is chosen.
[[nodiscard]] std::string shown_data(const ViewState& ui);

// `afterimage probe ...` for this request of the open model at the step that is shown, its input
// taken from where the shown one is from. A request without tokens has none.
[[nodiscard]] std::string probe_command(const ViewState& ui, const ProbeRequest& request);
// The same at every stored step of the run, into this file.
[[nodiscard]] std::string moments_command(const ViewState& ui, const ProbeRequest& request,
                                          const std::string& file);
// Why no command gives the same at this step: its weights are not on the disk; "" = one does.
[[nodiscard]] std::string why_no_command(const ViewState& ui, int64_t step);

struct CopiedCommand {
    std::string command, why_not;
    bool is_whole = true;  // else a file that it names is written when it is copied
    std::string note{};    // what one must know of it; shown when it is copied
};
[[nodiscard]] CopiedCommand command_of(const ViewState& ui, const Watch& watch);
// The same at the step that is shown, with what else the pane has made of the answer.
[[nodiscard]] CopiedCommand command_of(const ViewState& ui, const Watch& watch,
                                       ProbeRequest request);
inline constexpr const char* kCopyCommandTip =
    "Copies the command that writes what is shown here as numbers.";
// At the cursor, or on a new line where this one is full. True: it is on the clipboard now.
bool copy_command_button(Ui& ui, const CopiedCommand& copied, const char* tip = kCopyCommandTip,
                         ButtonKind kind = ButtonKind::normal);
// The same, for who has something to do before put_command(). True: it was pressed.
[[nodiscard]] bool copy_command_pressed(Ui& ui, const CopiedCommand& copied,
                                        const char* tip = kCopyCommandTip,
                                        ButtonKind kind = ButtonKind::normal);
void put_command(Ui& ui, const CopiedCommand& copied);

}  // namespace aft::app
