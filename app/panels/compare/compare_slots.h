// The slots of Compare as they are in one frame: which model and step each of them is, and the
// position biases that are asked of it: of the open session, or of the reader of stored models.
// Window thread; returns at once.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/compare/compare_reader.h"
#include "app/panels/shared/bias_map.h"
#include "app/panels/shared/watch.h"
#include "app/state/ui.h"

namespace aft::app {

// Which layers of a slot belong to those of the first one.
struct LayerPartners {
    // Where layers are matched: for each of the first slot's its own, -1 = none; empty: the same.
    std::vector<int64_t> partners;
    bool is_matching = false;  // they are not known yet
    [[nodiscard]] int64_t layer_of(int64_t of_first) const;
};

struct ComparedSlot : LayerPartners {
    CompareSlot choice;
    std::string letter;                         // "A"
    std::string name;                           // of the model, also before it is known
    std::string changes;                        // what its biases are changed by; "" = nothing
    const Status* status = nullptr;             // of its model, in this frame; null: not known yet
    std::shared_ptr<const StoredModel> stored;  // null for what is open
    std::vector<int64_t> steps;                 // that can be chosen
    int64_t step = -1;                          // the one that is shown; -1 = not known
    std::optional<BiasForm> form;               // of the shown layer; none: no position biases
    std::string error;                          // it cannot be read
    [[nodiscard]] bool has_bias() const { return form && form->layout != BiasLayout::none; }
    [[nodiscard]] bool is_growing() const { return stored && stored->is_growing; }
    // Of another layer, which in maps alone may have another size. The model is known.
    [[nodiscard]] BiasForm form_of(int64_t layer) const;
    [[nodiscard]] std::string words() const;  // "mirror-1, step 50, after blur"
};

// Another one: other values. is_moving: training changes what is open.
[[nodiscard]] std::string slot_key(const PaneContext& ui, const ComparedSlot& slot, bool is_moving);

// "blur, zero": what is on in its recipe, or the name of that one's file; "" = nothing is.
[[nodiscard]] std::string recipe_words(const CompareSlot& slot);

// Of what is asked under it: no two lists of interventions that are on have the same.
[[nodiscard]] std::string recipe_key(const Recipe& recipe);

struct SlotFields {
    FieldSetPtr fields;       // perhaps of an older step while `is_pending`
    bool is_pending = false;  // what was asked for is on its way
    std::string error;
};

class CompareSlots {
  public:
    // First of all in a frame. Drops slots of what is open when nothing is.
    void update(PaneContext& ui);
    [[nodiscard]] const std::vector<ComparedSlot>& all() const { return slots_; }
    [[nodiscard]] const ComparedSlot& at(size_t i) const { return slots_.at(i); }
    [[nodiscard]] size_t size() const { return slots_.size(); }
    // The request's step is that of the slot.
    [[nodiscard]] SlotFields ask(const PaneContext& ui, size_t slot, ProbeRequest request);
    // Which layers of a slot belong to those of the first; none: it is not known yet.
    void pair_layers(const ViewState& ui, size_t slot,
                     std::optional<std::vector<int64_t>> partners);
    // Last of all in a frame.
    void finish(PaneContext& ui);
    void read_again(size_t slot);
    [[nodiscard]] bool is_reading() const { return reader_.is_reading(); }
    [[nodiscard]] const std::string& reading_words() const { return reader_.words(); }

  private:
    [[nodiscard]] ComparedSlot resolve_open(const PaneContext& ui) const;
    [[nodiscard]] ComparedSlot resolve_stored(const CompareSlot& choice);

    struct OpenWatch {
        Watch watch;
        bool is_used = false;  // in this frame
    };
    std::vector<ComparedSlot> slots_;
    CompareReader reader_;
    uint64_t opened_ = 0;                       // whose answers these are
    std::map<std::string, OpenWatch> watches_;  // by the request
    std::map<std::pair<std::string, int64_t>, AskTurn> turns_;
};

// w of a layer as it is laid out: of all heads, or of one; NaN where a target sees nothing.
[[nodiscard]] ProbeRequest layer_request(const BiasForm& form, Gauge gauge, int64_t layer,
                                         int64_t head = -1);
// Values per side of the blocks that all heads of a layer are read in; 1 = it is read whole.
[[nodiscard]] int64_t layer_block(const BiasForm& form);
// One map is read whole: its cells can be compared one by one.
[[nodiscard]] bool is_map_readable(const BiasForm& form);
// Why the maps of two slots cannot be set against each other cell by cell; "" = they can.
[[nodiscard]] std::string why_not_comparable(const ComparedSlot& a, const ComparedSlot& b);
// Heads that are matched: rows of a map for kernels over the sequence.
[[nodiscard]] int64_t matched_heads(const BiasForm& form);

}  // namespace aft::app
