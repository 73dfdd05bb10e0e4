// Classes of data against those a model was trained on. Any thread; no state.
#pragma once
#include <memory>

#include "model/data/loader.h"

namespace aft {

// The source itself where model or data have no names, or the same ones in the same order. Else
// usage Error that names the first difference; with known.classes_by_name a source with the model's
// labels, and usage Error for a class of the data that the model does not know.
[[nodiscard]] std::unique_ptr<DataSource> with_known_classes(std::unique_ptr<DataSource> source,
                                                             const KnownData& known);

}  // namespace aft
