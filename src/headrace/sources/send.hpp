// Sends bytes of a source to a GPU through pinned memory. Each thread does all steps: it reads a piece into one of its
// slots, enqueues the copy, and continues with its next slot. Slots are small, so that a piece is still in the
// processor's cache when the GPU fetches it. With chunks of 32 MB, each byte crossed the host's memory bus twice more.
// That bus bounds a scan whose results are copied back at the same time (docs/decisions/0020-streams.md).
//
// Parts are sent one after the other, but overlap. The first pieces of a part are read together with the last ones of
// the previous part. A thread takes 0.5 ms for a piece of 2 MB while thirteen others read. Without the overlap, the GPU
// would wait that long at the beginning of each part, and half of the threads at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/device/driver_functions.hpp"
#include "sources/source.hpp"

namespace headrace {

// Pinned memory, and the event recorded after its last copy.
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

// Bytes [offset, offset + n) of a source, and the GPU address that they are copied to.
struct SendPart {
    const Source* source;
    std::uint64_t offset;
    std::size_t n;
    std::uint64_t target;
    void* copied;  // event to record after the part's last copy, or nullptr
};

// A part that is being sent. Its owner must wait for it before it frees the source or the GPU memory.
class SentPart {
public:
    virtual ~SentPart() = default;

    // Returns when all bytes are read and their copies enqueued; the copies may still be running. Returns the driver's
    // status: 0, or the error of a call, after which some bytes are not copied. Throws SourceFailure if a read failed.
    virtual int wait() = 0;
};

// Sends parts in the order of the calls of `begin`, with at most `threads` threads of the pool, which share out the
// slots. Parts that are being sent keep the shared state alive.
class PartSender {
public:
    PartSender(SendWay way, unsigned threads);
    std::shared_ptr<SentPart> begin(const SendPart& part);

private:
    class State;
    std::shared_ptr<State> state_;
};

}  // namespace headrace
