#include "app/host/speech.h"

#include <imgui_internal.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <utility>

#include "core/check.h"
#include "core/environment.h"
#include "core/outside.h"

namespace aft::app {

std::string spoken_words(const WidgetRecord& widget) {
    const std::string& label = widget.path.label;  // Pane/Section/Name, where a name may hold "/"
    std::string words = label.substr(label.find('/', label.find('/') + 1) + 1);
    words += ", " + widget.kind;
    if (!widget.value.empty()) words += ", " + widget.value;
    if (!widget.why_not.empty()) words += ", not now: " + widget.why_not;
    return printable_line(words);
}

Speech::Speech() {
    std::string command = variable("AFTERIMAGE_SPEAK");
    if (command.empty()) return;
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        fail("AFTERIMAGE_SPEAK: no connection to a command can be made");
    OwnedFd ours(ends[0]);
    const OwnedFd theirs(ends[1]);
    const SpawnPlan plan(theirs.get());
    std::string shell = "sh", flag = "-c";
    char* const words[] = {shell.data(), flag.data(), command.data(), nullptr};
    if (::posix_spawn(&process_, "/bin/sh", &plan.files, &plan.attributes, words, environ) != 0)
        fail("AFTERIMAGE_SPEAK: '{}' cannot be started", printable(command));
    input_ = std::move(ours);
}

// The end of its input ends the command; one that does not heed it is ended.
Speech::~Speech() {
    if (process_ <= 0) return;
    input_ = OwnedFd();
    constexpr int kLooks = 20, kBetween_ms = 10;
    for (int i = 0; i < kLooks; ++i) {
        if (::waitpid(process_, nullptr, WNOHANG) != 0) return;
        static_cast<void>(::poll(nullptr, 0, kBetween_ms));
    }
    ::kill(-process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
}

void Speech::say(const std::string& line) {
    const std::string text = line + "\n";
    const ssize_t sent =
        ::send(input_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EPIPE && ::waitpid(process_, nullptr, WNOHANG) != 0) process_ = -1;
}

void Speech::follow(const Ui& ui) {
    if (process_ <= 0) return;
    std::set<std::string> messages;
    for (const Toast& toast : ui.toasts.shown())
        messages.insert(printable_line(toast.title + " " + toast.detail));
    std::string now;
    const ImGuiID focus = ImGui::GetIO().NavVisible ? ImGui::GetCurrentContext()->NavId : 0;
    for (const WidgetRecord& widget : ui.recorder.last()) {
        if (focus != 0 && widget.item == focus) now = spoken_words(widget);
    }
    const std::string workspace = workspace_name(ui.workspace);
    if (std::exchange(workspace_, workspace) != workspace) say(workspace + ", workspace");
    for (const std::string& message : messages)
        if (!messages_.contains(message)) say(message);
    messages_ = std::move(messages);
    if (std::exchange(last_, now) != now && !now.empty()) say(now);
}

}  // namespace aft::app
