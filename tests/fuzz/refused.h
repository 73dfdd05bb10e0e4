// What every parser of bytes from strangers promises: it returns, or throws an aft::Error whose
// words can be shown as they are. For the programs of this folder only.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/check.h"
#include "core/outside.h"

namespace aft {

inline void require(bool holds, const char* promise, const std::string& found) {
    if (holds) return;
    std::fprintf(stderr, "ERROR: %s: %s\n", promise, found.c_str());
    std::abort();
}

// True where `parse` returned.
template <class Parse>
bool is_taken(const Parse& parse) {
    constexpr size_t kLongest = 2000;
    try {
        parse();
        return true;
    } catch (const Error& error) {
        const std::string words = error.what();
        require(words == printable_line(words), "a message can be shown as it is", words);
        require(words.size() <= kLongest, "a message is short", words);
        return false;
    }
}

}  // namespace aft
