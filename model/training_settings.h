// Settings of a training that stand in TrainConfig::own: when it ends before its target step, and
// which parameters it leaves as they are. Read with `train.own.read<StopSettings>()`. Plain types.
// No LibTorch. Any thread.
#pragma once
#include <string>
#include <utility>

#include "core/settings.h"

namespace aft {

struct StopSettings {
    double until_loss = 0, until_validation = 0;  // as the loss is shown: bits or nats; 0 = none
    double until_minutes = 0;                     // 0 = none
    void visit(SettingRows& rows) {
        const auto add = [&rows](Setting row) {
            row.at_min = "off";
            rows.push_back(std::move(row));
        };
        add(number_row(
            "train.until_loss", &until_loss,
            "Stop and save when the training loss, smoothed over about 20 steps, is at or below "
            "this, in the unit that is shown; 0 = do not.",
            {0, 1e6, "", true}));
        add(number_row("train.until_validation", &until_validation,
                       "Stop and save when the validation loss is at or below this, in "
                       "the unit that is shown; 0 = do not.",
                       {0, 1e6, "", true}));
        add(number_row(
            "train.until_minutes", &until_minutes,
            "Stop and save after so many minutes of training, pauses not counted; 0 = do not.",
            {0, 1e6, "minutes", true}));
    }
    [[nodiscard]] bool operator==(const StopSettings&) const = default;
};

struct FreezeSettings {
    std::string freeze;  // names by commas; model/train/frozen.h says which there are
    void visit(SettingRows& rows) {
        Setting row = text_row("train.freeze", &freeze,
                               "Parameters that training leaves as they are, by commas: biases "
                               "(of positions), keys, values, gates, embeddings, mlp, ...; empty = "
                               "none.");
        row.live = true;
        row.parts = {"biases",     "queries", "keys",    "values",        "output", "mlp",
                     "embeddings", "head",    "weights", "linear_biases", "norms"};
        rows.push_back(row);
    }
};

}  // namespace aft
