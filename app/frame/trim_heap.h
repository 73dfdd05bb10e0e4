// trim_heap: hands what a closed model held back to the system without holding up the
// window. A thread of its own; blocks for as long as the system takes (tens of ms a GB).
#pragma once

namespace aft::app {

void trim_heap();

}  // namespace aft::app
