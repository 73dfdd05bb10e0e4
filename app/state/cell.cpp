#include "app/state/cell.h"

#include <fmt/format.h>

namespace aft::app {

std::string cell_words(const Cell& cell) {
    std::string words = fmt::format("L{}", cell.layer);
    if (cell.head >= 0) words += fmt::format(" h{}", cell.head);
    if (cell.channel >= 0) words += fmt::format(" c{}", cell.channel);
    if (cell.target >= 0) words += fmt::format(" t {}", cell.target);
    return words;
}

}  // namespace aft::app
