// Event files byte by byte; tests/cli/log_checks.py reads whole ones with a decoder of its own.
#include "core/event_file.h"

#include <gtest/gtest.h>

#include <sstream>

namespace aft {
namespace {

TEST(EventFile, crc_is_castagnolis) {
    EXPECT_EQ(crc32c(""), 0U);
    EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
    EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);  // RFC 3720, B.4
    EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
}

// The CRCs of a record are masked, so they are left out here.
std::string payload(const std::string& record) {
    const size_t size = record.size() < 16 ? 0 : record.size() - 16;
    EXPECT_EQ(record.substr(0, 8), std::string(1, static_cast<char>(size)) + std::string(7, '\0'));
    return record.substr(12, size);
}

TEST(EventFile, first_record_is_the_version) {
    std::ostringstream out;
    write_event_version(out, 2.0);
    EXPECT_EQ(payload(out.str()),
              std::string("\x09\0\0\0\0\0\0\0\x40", 9) + "\x1a\x0d" + "brain.Event:2");
}

TEST(EventFile, scalars_have_tag_and_value) {
    std::ostringstream out;
    write_event(out, {.wall_time = 2.0, .step = 300, .values = {{"a/b", 1.0F}}});
    EXPECT_EQ(payload(out.str()), std::string("\x09\0\0\0\0\0\0\0\x40", 9) + "\x10\xac\x02" +
                                      "\x2a\x0c\x0a\x0a\x0a\x03" + "a/b" +
                                      std::string("\x15\0\0\x80\x3f", 5));
}

}  // namespace
}  // namespace aft
