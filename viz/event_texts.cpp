#include "viz/event_texts.h"

#include <algorithm>

namespace aft::viz {

void place_event_texts(std::vector<EventText>& texts) {
    constexpr size_t kFew = 4;
    const int rows = texts.size() <= kFew ? int(kFew) : 1;
    for (size_t i = 0; i < texts.size(); ++i) {
        EventText& text = texts[i];
        const auto is_free = [&](int row) {
            return std::none_of(texts.begin(), texts.begin() + long(i), [&](const EventText& one) {
                return one.row == row && one.low < text.high && text.low < one.high;
            });
        };
        text.row = 0;
        while (text.row < rows && !is_free(text.row)) ++text.row;
        if (text.row == rows) text.row = -1;
    }
}

}  // namespace aft::viz
