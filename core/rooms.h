// Rooms: every extension point is a list of entries with a name and one sentence. One folder, one
// list.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/check.h"

namespace aft {

struct RoomInfo {
    std::string name;      // "aft-local"
    std::string sentence;  // what it is, in one sentence
};

// nullptr = there is none of that name.
template <class Room>
const Room* room_named(const std::vector<Room>& rooms, std::string_view name) {
    for (const Room& room : rooms)
        if (room.info.name == name) return &room;
    return nullptr;
}

// "unknown mixer 'aft-lokal'; allowed: aft-simple, aft-full, ..."
template <class Room>
const Room& find_room(const std::vector<Room>& rooms, std::string_view name,
                      std::string_view kind) {
    if (const Room* const room = room_named(rooms, name)) return *room;
    std::string known;
    for (const Room& room : rooms) known += (known.empty() ? "" : ", ") + room.info.name;
    fail_usage("unknown {} '{}'; allowed: {}", kind, name, known);
}

}  // namespace aft
