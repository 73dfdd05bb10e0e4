// The table of one instruction set's kernels. Included once per instruction set, after them.
#pragma once

namespace aft::ops::cpu::AFT_CPU {

template <class T>
constexpr StoredKernels<T> stored() {
    return {.key_reference = key_reference<T>,
            .pack_keys = pack_keys<T>,
            .finish_rows = finish_rows<T>,
            .row_factors = row_factors<T>,
            .finish_keys = finish_keys<T>,
            .scan = scan<T>,
            .scan_all = scan_all<T>,
            .scan_gradient = scan_gradient<T>,
            .scan_all_gradient = scan_all_gradient<T>,
            .scan_link = {scan_link<T>, scan_link_join<T>, scan_link_end<T>},
            .scan_link_gradient = {back_link<T>, back_link_join<T>, back_link_end<T>},
            .scan_centre = scan_centre<T>,
            .conv_pack = conv_pack<T>,
            .conv_finish = conv_finish<T>,
            .conv_factors = conv_factors<T>,
            .conv_gradients = conv_gradients<T>};
}

constexpr Kernels table(const char* name) {
    return {.name = name,
            .channels = kChannels,
            .lanes = kLanes,
            .outer_rows = kOuterRows,
            .outer_lanes = 2 * kLanes,
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
            .outside_sums = outside_sums,
            .scan_room = scan_room,
            .slide = kSlide,
            .slides = kSlides,
            .tile = kTapTile,
            .taps = kTaps,
            .conv_rows = conv_rows,
            .conv_outside = conv_outside,
            .exact = {exact_largest, exact_weights, exact_average, exact_back},
            .of_floats = stored<float>(),
            .of_halves = stored<Half>()};
}

}  // namespace aft::ops::cpu::AFT_CPU
