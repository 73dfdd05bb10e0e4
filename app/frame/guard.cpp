#include "app/frame/guard.h"

#include <imgui.h>
#include <imgui_internal.h>
#include <implot.h>
#include <implot_internal.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "core/check.h"

namespace aft::app {
namespace {

// True while this thread draws a pane: assertions then become exceptions.
thread_local bool is_guarding = false;

class AssertionFailed : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

[[noreturn]] void on_assertion(const char* condition, const char* file, unsigned line) {
    if (is_guarding) {
        is_guarding = false;  // a second one while unwinding ends the program
        throw AssertionFailed(fmt::format("assertion failed: {} ({}:{})", condition, file, line));
    }
    std::fprintf(stderr, "%s:%u: assertion failed: %s\n", file, line, condition);
    std::abort();
}

// What Dear ImGui found wrong first, while a pane was drawn. ImPlot continues after a mistake with
// a null plot and crashes, so a mistake leaves the pane at once.
thread_local std::string first_mistake;

void on_mistake(ImGuiContext*, void*, const char* words) {
    if (!is_guarding) return;
    if (first_mistake.empty()) first_mistake = words;
    is_guarding = false;
    throw AssertionFailed(fmt::format("assertion failed: {}", words));
}

class GuardScope {
  public:
    GuardScope() { is_guarding = true; }
    ~GuardScope() { is_guarding = false; }
    GuardScope(const GuardScope&) = delete;
    GuardScope& operator=(const GuardScope&) = delete;
};

bool is_same(const ImGuiErrorRecoveryState& a, const ImGuiErrorRecoveryState& b) {
    return a.SizeOfWindowStack == b.SizeOfWindowStack && a.SizeOfIDStack == b.SizeOfIDStack &&
           a.SizeOfTreeStack == b.SizeOfTreeStack && a.SizeOfColorStack == b.SizeOfColorStack &&
           a.SizeOfStyleVarStack == b.SizeOfStyleVarStack &&
           a.SizeOfFontStack == b.SizeOfFontStack && a.SizeOfGroupStack == b.SizeOfGroupStack &&
           a.SizeOfItemFlagsStack == b.SizeOfItemFlagsStack &&
           a.SizeOfBeginPopupStack == b.SizeOfBeginPopupStack &&
           a.SizeOfDisabledStack == b.SizeOfDisabledStack;
}

void recover_plots() {
    ImPlotContext* plots = ImPlot::GetCurrentContext();
    if (plots == nullptr) return;
    if (plots->CurrentPlot != nullptr) ImPlot::ResetCtxForNextPlot(plots);
    if (plots->CurrentSubplot != nullptr) ImPlot::ResetCtxForNextSubplot(plots);
}

}  // namespace

Guarded draw_guarded(const std::function<void()>& draw) {
    ImGuiErrorRecoveryState before, after;
    ImGui::ErrorRecoveryStoreState(&before);
    Guarded result;
    first_mistake.clear();
    {
        const GuardScope guard;
        try {
            draw();
        } catch (const std::exception& error) {
            result.problem = error.what();
        }
    }
    recover_plots();
    ImGui::ErrorRecoveryStoreState(&after);
    if (after.SizeOfWindowStack < before.SizeOfWindowStack) {
        result.window_lost = true;
        if (!result.problem) result.problem = "it ended its own window (one End too many)";
        return result;
    }
    if (!result.problem && !first_mistake.empty()) result.problem = first_mistake;
    if (is_same(before, after)) return result;
    ImGui::ErrorRecoveryTryToRecoverState(&before);
    if (!result.problem) result.problem = "it left Dear ImGui's stacks unbalanced";
    return result;
}

void enable_recovery() {
    ImGuiIO& io = ImGui::GetIO();
    io.ConfigErrorRecovery = true;
    io.ConfigErrorRecoveryEnableAssert = false;
    io.ConfigErrorRecoveryEnableDebugLog = true;
    io.ConfigErrorRecoveryEnableTooltip = false;
    io.ConfigDebugHighlightIdConflicts = false;
    ImGui::GetCurrentContext()->ErrorCallback = on_mistake;
}

}  // namespace aft::app

// Dear ImGui and ImPlot are built with assertions. Inside a pane a failed one must not end a
// training run: it becomes an exception that the guard shows in the pane's place. Everywhere else
// it aborts as usual.
extern "C" [[noreturn]] void __assert_fail(const char* condition, const char* file, unsigned line,
                                           const char*);
extern "C" void __assert_fail(const char* condition, const char* file, unsigned line, const char*) {
    aft::app::on_assertion(condition, file, line);
}
