#include "core/event_file.h"

#include <array>
#include <bit>

namespace aft {
namespace {

constexpr std::array<uint32_t, 256> crc_table() {
    std::array<uint32_t, 256> table{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
        table[byte] = crc;
    }
    return table;
}
constexpr std::array<uint32_t, 256> kCrcTable = crc_table();

// Rotated and shifted, as TFRecord wants it: a CRC of bytes that hold their CRC says nothing.
uint32_t masked_crc(std::string_view bytes) {
    return std::rotr(crc32c(bytes), 15) + 0xa282ead8U;
}

template <class Number>
void append_little_endian(std::string& to, Number number) {
    for (size_t byte = 0; byte < sizeof number; ++byte)
        to += static_cast<char>((number >> (8 * byte)) & 0xff);
}

// Protobuf's wire format: a key is (field << 3 | kind), kinds below; varints have seven bits a
// byte, the low ones first.
enum WireKind : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void append_varint(std::string& to, uint64_t number) {
    for (; number >= 0x80; number >>= 7) to += static_cast<char>((number & 0x7f) | 0x80);
    to += static_cast<char>(number);
}

void append_key(std::string& to, uint64_t field, WireKind kind) {
    append_varint(to, field << 3 | kind);
}

void append_bytes(std::string& to, uint64_t field, std::string_view bytes) {
    append_key(to, field, kBytes);
    append_varint(to, bytes.size());
    to += bytes;
}

// Event: 1 wall_time (double), 2 step (int64), 3 file_version (string), 5 summary (message).
std::string event_at(double wall_time) {
    std::string event;
    append_key(event, 1, kFixed64);
    append_little_endian(event, std::bit_cast<uint64_t>(wall_time));
    return event;
}

void write_record(std::ostream& out, std::string_view bytes) {
    std::string head;
    append_little_endian(head, static_cast<uint64_t>(bytes.size()));
    append_little_endian(head, masked_crc(head));
    std::string tail;
    append_little_endian(tail, masked_crc(bytes));
    out << head << bytes << tail;
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
    uint32_t crc = 0xffffffffU;
    for (const char c : bytes) crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<uint8_t>(c)) & 0xff];
    return ~crc;
}

void write_event_version(std::ostream& out, double wall_time) {
    std::string event = event_at(wall_time);
    append_bytes(event, 3, "brain.Event:2");
    write_record(out, event);
}

void write_event(std::ostream& out, const ScalarEvent& event) {
    std::string summary;  // 1: Value, repeated
    for (const auto& [tag, number] : event.values) {
        std::string value;  // 1 tag (string), 2 simple_value (float)
        append_bytes(value, 1, tag);
        append_key(value, 2, kFixed32);
        append_little_endian(value, std::bit_cast<uint32_t>(number));
        append_bytes(summary, 1, value);
    }
    std::string bytes = event_at(event.wall_time);
    append_key(bytes, 2, kVarint);
    append_varint(bytes, static_cast<uint64_t>(event.step));
    append_bytes(bytes, 5, summary);
    write_record(out, bytes);
}

}  // namespace aft
