#include "bench/peers/peer.h"

namespace aft::bench {

PeerRoom einsum_peer();
PeerRoom attention_peer();
PeerRoom composition_peer();
PeerRoom grouped_conv_peer();
PeerRoom linear_attention_peer();
PeerRoom sequential_peer();

const std::vector<PeerRoom>& peers() {
    static const std::vector<PeerRoom> rooms = {
        einsum_peer(),       attention_peer(),        composition_peer(),
        grouped_conv_peer(), linear_attention_peer(), sequential_peer(),
    };
    return rooms;
}

}  // namespace aft::bench
