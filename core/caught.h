// The ways to meet an exception where it is not turned into a state, an answer or an exit code: as
// words, with words of one's own, as a value, or with something undone on its way. Any thread.
#pragma once
#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "core/check.h"

namespace aft {

// What `work` threw, in words; "" where it threw nothing. `words_of` turns the exception into the
// text.
using ErrorWords = std::string (*)(const std::exception& error);
[[nodiscard]] std::string error_words(const std::function<void()>& work,
                                      ErrorWords words_of = nullptr);

// What `work` threw, to be rethrown later or elsewhere; nullptr where it threw nothing.
[[nodiscard]] std::exception_ptr caught(const std::function<void()>& work);

// Returns what `work` returns; throws change(error) in place of an Error of its.
template <class Work, class Change>
auto with_error(Work&& work, Change&& change) {
    try {
        return std::forward<Work>(work)();
    } catch (const Error& error) {
        throw Error(std::forward<Change>(change)(error));
    }
}

// An Error of `work` begins with `where` (a file, a key) and stays of its kind.
template <class Work>
auto with_context(const std::string& where, Work&& work) {
    return with_error(std::forward<Work>(work), [&](const Error& error) {
        return Error(where + ": " + error.what(), error.kind());
    });
}

// Undoes something if the scope is left by an exception. `undo` must not throw.
class OnFailure {
  public:
    explicit OnFailure(std::function<void()> undo) : undo_(std::move(undo)) {}
    ~OnFailure() {
        if (std::uncaught_exceptions() > before_) undo_();
    }
    OnFailure(const OnFailure&) = delete;
    OnFailure& operator=(const OnFailure&) = delete;

  private:
    std::function<void()> undo_;
    int before_ = std::uncaught_exceptions();
};

}  // namespace aft
