// The C library's heap. Any thread.
//
// A training step frees its activations and allocates them again. Memory that goes back to the
// system in between comes in anew page by page, which took a fifth of a step of cifar10-local and a
// third of aft-simple over 65,536 tokens. So the program keeps what it frees, and trims the heap
// when a model is closed.
#pragma once

namespace aft {

// Sets malloc to keep freed memory, of the heap's free end up to 1 GiB, and to use one heap for all
// threads and for blocks of any size. Once, before other threads run.
void keep_freed_memory();

// Gives freed memory back to the system, large_blocks() too, without holding up other threads.
// Blocks for as long as the system takes (tens of ms a GB), so on a thread of its own.
void trim_heap();

}  // namespace aft
