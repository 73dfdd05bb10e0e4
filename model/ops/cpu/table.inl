// The table of one instruction set's kernels. Included once per instruction set, after them.
#pragma once

namespace aft::ops::cpu::AFT_CPU {

constexpr Kernels table(const char* name) {
    return {.name = name,
            .channels = kChannels,
            .lanes = kLanes,
            .outer_rows = kOuterRows,
            .outer_lanes = 2 * kLanes,
            .key_reference = key_reference,
            .pack_keys = pack_keys,
            .sum_after = sum_after,
            .largest_of = largest_of,
            .largest_of_wide = largest_of_wide,
            .weight_row = weight_row,
            .wide_product = wide_product,
            .short_product = short_product,
            .multiply = multiply,
            .wide_sums = wide_sums,
            .outer = outer,
            .transpose = transpose,
            .rescale = rescale,
            .finish_rows = finish_rows,
            .row_factors = row_factors,
            .outside_sums = outside_sums,
            .finish_keys = finish_keys,
            .scan = scan,
            .scan_all = scan_all,
            .scan_gradient = scan_gradient,
            .scan_all_gradient = scan_all_gradient,
            .scan_room = scan_room,
            .scan_link = {scan_link, scan_link_join, scan_link_end},
            .scan_link_gradient = {back_link, back_link_join, back_link_end},
            .scan_centre = scan_centre,
            .slide = kSlide,
            .slides = kSlides,
            .tile = kTapTile,
            .taps = kTaps,
            .conv_pack = conv_pack,
            .conv_rows = conv_rows,
            .conv_outside = conv_outside,
            .conv_finish = conv_finish,
            .conv_factors = conv_factors,
            .conv_gradients = conv_gradients};
}

}  // namespace aft::ops::cpu::AFT_CPU
