// Errors of work with a stored model name the model's file: what it computes can be wrong with the
// file alone ("the prediction is not a number"). For jobs and the session. Any thread.
#pragma once
#include <string>
#include <utility>

#include "core/caught.h"

namespace aft {

// The error with the model's file before it, unless it names it already or the model was made here.
[[nodiscard]] inline Error naming_error(const std::string& path, const Error& error) {
    const std::string words = error.what();
    if (path.empty() || words.starts_with(path)) return error;
    return Error(path + ": " + words);
}

// Runs `work` and returns its result; prefixes its errors with the path, except usage errors.
template <class Work>
auto naming_model(const std::string& path, Work&& work) {
    return with_error(std::forward<Work>(work), [&](const Error& error) {
        return error.kind() == ErrorKind::usage ? error : naming_error(path, error);
    });
}

}  // namespace aft
