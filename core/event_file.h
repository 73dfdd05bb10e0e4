// Numbers over steps as TensorBoard reads them: an event file is a TFRecord file (length, masked
// CRC-32C of it, bytes, masked CRC-32C of them; little endian) of Event messages in protobuf's wire
// format. Writes to a stream that the caller has opened; any thread, no state.
#pragma once
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aft {

// The Castagnoli polynomial, reflected: of "123456789" it is 0xe3069283.
[[nodiscard]] uint32_t crc32c(std::string_view bytes);

struct ScalarEvent {
    double wall_time = 0;  // seconds since 1970
    int64_t step = 0;
    std::vector<std::pair<std::string, float>> values = {};  // tag (UTF-8), value
};
// The first record of every file: which format the others have.
void write_event_version(std::ostream& out, double wall_time);
void write_event(std::ostream& out, const ScalarEvent& event);

}  // namespace aft
