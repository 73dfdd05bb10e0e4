// Errors of work with a stored model name the model's file: what it computes can be wrong with the
// file alone ("the prediction is not a number"). For jobs and the session. Any thread.
#pragma once
#include <string>
#include <utility>

#include "core/check.h"

namespace aft {

// What `work` returns. Its errors begin with the path, but for those of a wrong use and those that
// name it already.
template <class Work>
auto naming_model(const std::string& path, Work&& work) {
    try {
        return std::forward<Work>(work)();
    } catch (const Error& error) {
        const std::string words = error.what();
        if (error.kind() == ErrorKind::usage || words.starts_with(path)) throw;
        fail("{}: {}", path, words);
    }
}

}  // namespace aft
