#include "core/caught.h"

namespace aft {

std::string error_words(const std::function<void()>& work, ErrorWords words_of) {
    try {
        work();
    } catch (const std::exception& error) {
        const std::string words = words_of ? words_of(error) : error.what();
        return words.empty() ? "unknown error" : words;
    }
    return "";
}

std::exception_ptr caught(const std::function<void()>& work) {
    try {
        work();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

}  // namespace aft
