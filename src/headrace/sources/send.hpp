// A source's bytes to a GPU, through pinned memory, by threads that each do it all: read a piece into a slot of their
// own, tell the driver to copy it, go on with the next slot. Slots are small, so that the piece is still in the
// processor's cache when the card fetches it: in chunks of 32 MB each byte went through the host's memory twice more,
// which is what bounds a scan whose results come back at the same time (docs/decisions/0020-streams.md).
//
// The driver is known by addresses of four of its functions, so nothing here needs CUDA to be built, or to be there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sources/source.hpp"

namespace headrace {

// cuCtxSetCurrent, cuMemcpyHtoDAsync, cuEventRecord, cuEventQuery: what they are told and answer, with their types
// as wide.
struct DriverCalls {
    int (*make_current)(void* context);
    int (*copy_to_card)(std::uint64_t target, const void* from, std::size_t n, void* stream);
    int (*record)(void* event, void* stream);
    int (*query)(void* event);
};

// Pinned memory, and the event behind its last copy.
struct PinnedSlot {
    std::uint8_t* memory;
    void* event;
};

struct SendWay {
    DriverCalls calls;
    void* context;
    void* stream;
    std::vector<PinnedSlot> slots;
    std::size_t slot_bytes;
};

// Copies bytes [offset, offset + n) of a source to an address of the card, as work of the stream, by up to so many
// threads, each of which has its part of the slots. Returns when all is read, not when the card has it. The answer is
// the driver's status: 0, or what a call failed with; then some bytes are not copied. Throws SourceFailure, also then.
int send_to_card(const Source& source, std::uint64_t offset, std::size_t n, std::uint64_t target, const SendWay& way,
                 unsigned threads);

}  // namespace headrace
