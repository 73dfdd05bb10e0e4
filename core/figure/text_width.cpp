// Advances of Inter 4.0 (Regular, SemiBold) in thousandths of the em, U+0020 to U+007E; everything
// else counts as one wide letter.
#include <array>

#include "core/figure/drawing.h"

namespace aft {

namespace {

using Advances = std::array<int16_t, 95>;

constexpr Advances kRegular{
    281, 278, 403, 631, 638, 813, 639, 222, 362, 362, 500, 659, 280, 460, 276, 357, 625, 464, 605,
    636, 642, 608, 624, 571, 616, 624, 276, 280, 659, 659, 659, 507, 936, 676, 651, 727, 719, 598,
    587, 743, 740, 264, 543, 652, 563, 889, 753, 761, 635, 761, 639, 638, 642, 741, 676, 949, 642,
    665, 625, 362, 357, 362, 469, 452, 497, 564, 621, 558, 621, 582, 361, 609, 591, 237, 237, 544,
    237, 869, 585, 597, 609, 609, 372, 523, 364, 581, 557, 813, 540, 557, 541, 362, 327, 362, 659};
constexpr Advances kSemiBold{
    248, 309, 396, 643, 649, 844, 663, 213, 393, 393, 543, 673, 295, 466, 290, 379, 667, 481,  621,
    652, 666, 632, 648, 587, 646, 648, 290, 295, 673, 673, 673, 544, 999, 724, 657, 744, 724,  608,
    586, 755, 744, 275, 561, 677, 566, 906, 741, 775, 643, 776, 651, 649, 660, 734, 724, 1007, 690,
    705, 653, 393, 379, 393, 481, 468, 497, 575, 630, 577, 630, 593, 377, 625, 613, 261, 261,  569,
    261, 898, 610, 608, 625, 625, 397, 549, 380, 608, 576, 837, 563, 576, 562, 393, 358, 393,  673};
constexpr int kOther = 700;

}  // namespace

double text_width(std::string_view words, double size, bool is_bold) {
    const Advances& advances = is_bold ? kSemiBold : kRegular;
    int64_t thousandths = 0;
    for (const char letter : words) {
        const auto byte = static_cast<uint8_t>(letter);
        if (byte >= 0x20 && byte < 0x7F)
            thousandths += advances[byte - 0x20U];
        else if ((byte & 0xC0U) != 0x80U)  // the first byte of a longer character
            thousandths += kOther;
    }
    return static_cast<double>(thousandths) * size / 1000;
}

}  // namespace aft
