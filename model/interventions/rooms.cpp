#include "model/interventions/intervention.h"

namespace aft {

InterventionRoom zero_intervention();
InterventionRoom scale_intervention();
InterventionRoom blur_intervention();
InterventionRoom symmetrise_intervention();
InterventionRoom translation_intervention();
InterventionRoom cut_intervention();
InterventionRoom top_k_intervention();
InterventionRoom low_rank_intervention();
InterventionRoom paint_intervention();
InterventionRoom set_intervention();
InterventionRoom shuffle_intervention();
InterventionRoom copy_intervention();
InterventionRoom off_intervention();
InterventionRoom gate_off_intervention();
InterventionRoom key_off_intervention();

const std::vector<InterventionRoom>& interventions() {
    static const std::vector<InterventionRoom> rooms = {
        zero_intervention(),       scale_intervention(),       blur_intervention(),
        symmetrise_intervention(), translation_intervention(), cut_intervention(),
        top_k_intervention(),      low_rank_intervention(),    paint_intervention(),
        set_intervention(),        shuffle_intervention(),     copy_intervention(),
        off_intervention(),        gate_off_intervention(),    key_off_intervention()};
    return rooms;
}

}  // namespace aft
