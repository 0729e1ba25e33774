// A source's bytes to a GPU, through pinned memory, by threads that each do it all: read a piece into a slot of their
// own, tell the driver to copy it, go on with the next slot. Slots are small, so that the piece is still in the
// processor's cache when the card fetches it: in chunks of 32 MB each byte went through the host's memory twice more,
// which is what bounds a scan whose results come back at the same time (docs/decisions/0020-streams.md).
//
// Parts are sent one behind the other, and the first pieces of one are read while the last ones of another still are: a
// thread takes 0.5 ms for a piece of 2 MB while thirteen others read, so that the card would wait as long at each
// part's begin, and half of the threads at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/device/driver_functions.hpp"
#include "sources/source.hpp"

namespace headrace {

// Pinned memory, and the event behind its last copy.
struct PinnedSlot {
    std::uint8_t* memory;
    void* event;
};

struct SendWay {
    CardCalls calls;
    void* context;
    void* stream;
    std::vector<PinnedSlot> slots;
    std::size_t slot_bytes;
};

// Bytes [offset, offset + n) of a source, and the address of the card that they go to.
struct SendPart {
    const Source* source;
    std::uint64_t offset;
    std::size_t n;
    std::uint64_t target;
    void* behind;  // an event to be recorded behind the part's last copy, or nullptr
};

// A part that is on its way. Whoever holds it waits for it before the source, or the memory of the card, goes.
class SentPart {
public:
    virtual ~SentPart() = default;

    // Returns when all is read, and the card told to copy it, not when the card has it. The answer is the driver's
    // status: 0, or what a call failed with; then some bytes are not copied. Throws SourceFailure, also then.
    virtual int wait() = 0;
};

// Sends parts in the order in which they are begun, by up to so many threads of the pool, each of which has its part of
// the way's slots. What is on its way keeps what it needs of this.
class PartSender {
public:
    PartSender(SendWay way, unsigned threads);
    std::shared_ptr<SentPart> begin(const SendPart& part);

private:
    class State;
    std::shared_ptr<State> state_;
};

}  // namespace headrace
