#include "app/panels/shared/compare_command.h"

#include <fmt/format.h>

#include "app/state/probe_options.h"
#include "core/text.h"
#include "model/model_files.h"

namespace aft::app {

ChangeMeasure measure_of(Quantity quantity) {
    const bool is_exp = quantity == Quantity::exp || quantity == Quantity::exp_minus_one;
    return is_exp ? ChangeMeasure::exp : ChangeMeasure::w;
}

std::string compare_command(const MapsToCompare& maps) {
    std::string out =
        fmt::format("afterimage compare {} {}", shell_word(maps.a), shell_word(maps.b));
    if (maps.step_a >= 0 && !is_checkpoint_file(maps.a))
        out += fmt::format(" --step-a {}", maps.step_a);
    if (maps.step_b >= 0 && !is_checkpoint_file(maps.b))
        out += fmt::format(" --step-b {}", maps.step_b);
    if (!maps.is_kernel) out += fmt::format(" --gauge {}", gauge_option(maps.gauge));
    if (!maps.matches) out += " --heads ordered";
    if (maps.matches_layers) out += " --layers matched";
    const bool is_exp = measure_of(maps.quantity) == ChangeMeasure::exp;
    out +=
        fmt::format(" --changes 100{} --layer {}", is_exp ? " --changes-by exp" : "", maps.layer);
    if (maps.head >= 0) out += fmt::format(" --head {}", maps.head);
    if (maps.head_b >= 0) out += fmt::format(" --head-b {}", maps.head_b);
    const Quantity shown = maps.is_kernel ? quantity_of_kernel(maps.quantity) : maps.quantity;
    if (maps.view != "ratio") out += fmt::format(" --quantity {}", quantity_option(shown));
    return out + fmt::format(" --view {} -o {}", maps.view, maps.file);
}

}  // namespace aft::app
