// Numbers of a view: in a frame whose numbers are saved, maps, pictures, curves, bars and tables
// hand over what they are drawn of. Window thread.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/npz.h"

namespace aft::viz {

class NumberSink {
  public:
    // The pane that draws now: the beginning of its tables' names.
    std::function<std::string()> pane = [] { return std::string(); };
    // A second table of a name gets "_2".
    void add(std::string_view name, NumberTable table);
    [[nodiscard]] const std::vector<NumberTable>& tables() const { return tables_; }

    // What is on the screen is not all of it yet: why. "" = it is.
    std::string unread{};
    std::vector<std::string> commands{};  // that write what is shown

  private:
    std::vector<NumberTable> tables_;
};

struct MapData;
struct AtlasView;
struct CurvePlot;
[[nodiscard]] NumberTable map_numbers(const MapData& map);  // [rows, columns]; hidden is NaN
// [maps, rows, columns]; what is not there is NaN.
[[nodiscard]] NumberTable atlas_numbers(const AtlasView& view);
// Each curve as [points, (x, y)], all that were recorded.
void add_curves(const CurvePlot& plot, NumberSink& to);

}  // namespace aft::viz
