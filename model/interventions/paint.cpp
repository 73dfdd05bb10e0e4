// paint: a value in a rectangle of targets and sources; of a kernel over pictures in rows and
// columns of its taps, of one over a sequence in its taps (sources). Both ends are included.
#include <ATen/ATen.h>

#include <algorithm>

#include "core/check.h"
#include "model/interventions/edits.h"

namespace aft {

InterventionRoom paint_intervention();

namespace {

at::Tensor paint(const BiasEdit& edit) {
    at::Tensor w = edit.w.clone();
    at::Tensor region = w;
    for (const char* const axis : {"target", "source"}) {
        const bool is_target = axis[0] == 't';
        if (is_target && w.dim() == 2) continue;  // taps alone
        const int64_t dim = is_target ? 1 : w.dim() - 1, size = w.size(dim);
        const int64_t first = edit.values.whole(std::string("first_") + axis);
        const int64_t last = edit.values.whole(std::string("last_") + axis);
        if (first > last || last >= size)
            fail_usage("first_{} to last_{}: found {} to {}, allowed: 0 to {}, in order", axis,
                       axis, first, last, size - 1);
        region = region.slice(dim, first, last + 1);
    }
    region.fill_(edit.values.real("value"));
    return w;
}

InterventionOption place(const char* key, const char* help) {
    return {.key = key, .help = help, .standard = "0", .min = 0, .max = 1 << 20};
}

}  // namespace

InterventionRoom paint_intervention() {
    return {{.info = {"paint", "Gives a region of targets and sources one value."},
             .formula = "w[t,t'] \u2192 value in the region",
             .options = {place("first_target", "First target (row) of the region."),
                         place("last_target", "Last target (row) of it."),
                         place("first_source", "First source (column, tap) of the region."),
                         place("last_source", "Last source (column, tap) of it."),
                         {.key = "value",
                          .help = "The new w, nats.",
                          .standard = "0",
                          .min = -1000,
                          .max = 1000,
                          .is_real = true}}},
            paint};
}

}  // namespace aft
