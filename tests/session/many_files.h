// A folder with so many pictures that listing it takes a while, and the time that something takes.
// Tests only.
#pragma once
#include <chrono>
#include <string>

#include "tests/core/scratch.h"

namespace aft {

class ManyFiles {
  public:
    explicit ManyFiles(int count = 30'000) {
        for (int i = 0; i < count; ++i) put(folder_ / (std::to_string(i) + ".png"), "");
    }
    [[nodiscard]] std::string spec() const {
        return "images:" + folder_.path().string() + "?size=8&levels=4&gray=1";
    }

  private:
    Scratch folder_;  // empty files: nothing but their names is read
};

template <class Work>
std::chrono::duration<double> time_of(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::steady_clock::now() - start;
}

}  // namespace aft
