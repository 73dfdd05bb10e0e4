// Ranks as threads of one process, so that tests see all of them.
#pragma once
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/caught.h"
#include "model/distributed/rank_group.h"

namespace aft {

// What each rank's work threw; "" = nothing. The limit is only met where a rank hangs.
inline std::vector<std::string> with_ranks(int size, const std::function<void(RankGroup&)>& work,
                                           double timeout_seconds = 300) {
    RankPlace place{.size = size, .local_size = size, .said_by = "a test"};
    place.listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(place.listener, any, length), 0);
    EXPECT_EQ(listen(place.listener, SOMAXCONN), 0);
    EXPECT_EQ(getsockname(place.listener, any, &length), 0);
    place.port = ntohs(address.sin_port);
    std::vector<std::string> errors(static_cast<size_t>(size));
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank)
        threads.emplace_back([&, rank] {
            RankPlace mine = place;
            mine.rank = mine.local_rank = rank;
            if (rank != 0) mine.listener = -1;
            errors[static_cast<size_t>(rank)] = error_words([&] {
                RankGroup group(mine, timeout_seconds);
                work(group);
            });
        });
    threads.clear();
    return errors;
}

inline std::vector<std::string> no_errors(int size) {
    return std::vector<std::string>(static_cast<size_t>(size));
}

}  // namespace aft
