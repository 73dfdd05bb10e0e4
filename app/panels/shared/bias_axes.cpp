#include "app/panels/shared/bias_axes.h"

#include <fmt/format.h>

#include "core/text.h"

namespace aft::app {

void set_bias_axes(viz::MapView& view, const BiasForm& form, const Positions& positions,
                   Blocks block) {
    const int64_t first = form.first_offset;
    const auto offset = [first](int64_t i) { return signed_number(double(i + first), 0); };
    view.column_label = [block](int64_t i) { return group_thousands(i * block.columns); };
    view.row_label = [block](int64_t i) { return group_thousands(i * block.rows); };
    if (form.layout == BiasLayout::kernel_2d) {
        view.row_label = view.column_label = offset;
        view.row_origin = view.column_origin = -first;
        view.corner = "dy\\dx";
    } else if (form.layout == BiasLayout::kernel_1d) {
        view.row_label = [](int64_t i) { return fmt::format("h{}", i); };
        view.column_label = offset;
        view.column_origin = -first;
    } else {
        const int64_t line = positions.is_text ? 0 : positions.width * positions.channels;
        view.row_step = line % block.rows == 0 ? line / block.rows : 0;
        if (form.layout == BiasLayout::matrix) view.column_step = view.row_step;
        if (form.layout == BiasLayout::band)
            view.column_label = [block, first](int64_t i) {
                return group_thousands(i * block.columns + first);
            };
    }
}

}  // namespace aft::app
