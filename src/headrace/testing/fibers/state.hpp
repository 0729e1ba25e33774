// Declares the state of a launch: threads, warps and blocks, the launch's parameters, and the findings.
//
// One operating-system thread runs one fiber at a time, so nothing is locked, and a launch depends only on its seed.
// Each thread has a stack and about 100 bytes; a switch saves six registers.
#pragma once
#include <cstddef>

#include "testing/fibers/interface.hpp"

namespace headrace::fibers {

constexpr u32 LANES = 32, MAX_WARPS = 32, MAX_THREADS = LANES * MAX_WARPS, MAX_RESIDENT = 32;
constexpr u64 STACK_LEFT = 1024;  // bytes of a thread's stack reserved for the harness

// Whether plain accesses are observed; without them the other checks are incomplete.
#if defined(FIBERS_NO_ACCESS_HOOKS)
constexpr bool ACCESSES_ARE_SEEN = false;
#else
constexpr bool ACCESSES_ARE_SEEN = true;
#endif

// Order in which ready threads run.
enum class Order : u32 { FORWARD, REVERSE, RANDOM };

// Faults that end a launch. `testing/fibers/findings.py` has the same list with explanations.
enum class FaultKind : u32 {
    NOTHING,
    DIVERGENT_BARRIER,     // threads of a block at different barriers
    DIVERGENT_COLLECTIVE,  // lanes of one mask at different collectives, or lines
    WRONG_MASK,            // a mask without the calling lane; a shuffle from a missing lane
    DEADLOCK,              // all threads wait for threads that never arrive
    SPIN,                  // threads poll memory that no thread changes
    ENDLESS,               // a loop without memory accesses does not end
    TIME,
    OUT_OF_BOUNDS,
    READ_ONLY,
    OTHERS_LOCALS,  // a pointer into another thread's stack
    UNINITIALISED,  // shared memory is read before it is written
    RACE,           // shared memory: accesses of two threads, one a write, no barrier between
    GLOBAL_RACE,    // an array: a thread reads another's write, and nothing orders them
    UNWRITTEN,      // an array without content is read before it is written
    UNDEFINED,      // undefined behaviour, including misaligned vectors
    STACK,
    TRAP,
};

// State of a thread for the report.
enum class Doing : u8 { READY, AT_BARRIER, IN_COLLECTIVE, DONE };

enum class Access : u8 { READ, WRITE, VOLATILE_READ, VOLATILE_WRITE, ATOMIC };

constexpr bool writes(Access access) { return access != Access::READ && access != Access::VOLATILE_READ; }

struct BlockState;

struct Fiber {
    void* stack_pointer;
    char* stack;  // its lowest byte
    BlockState* block;
    const void* where;  // return address of its last call into the harness
    Index thread;
    u16 number, lane, warp;
    Doing doing;
    Collective what;
    int line;  // source line of the collective that it waits in
    u32 mask, source;
    u32 fences;  // fences passed since its block started
    u64 value, result;
};

struct Warp {
    u32 ready, live, waiting;  // lanes that can run; that have not returned; that wait in a collective
    u32 epoch;                 // changes when the warp is synchronised (__syncwarp)
    u32 passed;                // lanes that have interleaved since the warp's turn began
};

// Last accesses to a byte of shared memory (shared.hpp).
struct Cell {
    u32 write_epoch, write_warp_epoch, read_epoch, read_warp_epoch;
    u32 writer_fences;
    u16 writer, reader;
    bool atomic_write, many_readers, readers_of_many_warps;
    const void* write_where;
    const void* read_where;
};

struct BlockState {
    Index index;
    u32 number;
    Fiber fibers[MAX_THREADS];
    Warp warps[MAX_WARPS];
    u32 slot;
    u32 live, at_barrier, ready_warps;
    u32 passed;         // warps whose turn has ended since the block's turn began
    bool barrier_open;  // a thread waits at it
    SyncKind barrier;
    int barrier_line;
    u32 barrier_result;
    u32 epoch, first_epoch;  // changes when the block is synchronised
    char* stacks;
    char* statics;  // its static shared variables while another block uses the section
    char* dynamic;
    Cell* cells;  // one a byte: static, then dynamic
};

// Memory that a kernel may access: an argument's array.
struct AddressRange {
    u64 low, size;
    u32 argument;
    u16 writable, unwritten;  // whether it may be written; whether it has no content yet
};

struct MappedPages {
    char* memory;
    u64 bytes;
};

// Memory that launches of all programs use in turn, since fresh pages cost more than a small launch. Cells are an
// array, and epochs continue from launch to launch, so cells of earlier launches are stale.
struct FiberMemory {
    MappedPages blocks, cells;
    u64 epochs;
};

struct LaunchRequest {
    Index grid, block;
    u64 shared;  // bytes of dynamic shared memory
    void** arguments;
    const AddressRange* ranges;
    u64 range_count;
    const u16* owners;  // for each byte of the section, the number of its variable from 1 on; 0 between variables
    u64 seed;
    u64 stack_bytes;
    double seconds;
    Order order;
    u32 resident;
    u32 ascending;  // blocks start in the order of their indices
    u32 poison;     // initial byte of shared memory
    u32 find_races, find_uninitialised, find_spins;
    FiberMemory* memory;
};

struct LaunchCounts {
    u64 blocks, threads;
    u64 interleavings;  // points where another thread could run
    u64 switches, block_switches;
    u64 barriers, collectives, atomics;  // arrivals: one for each thread
    u64 lost_swaps;                      // failed compare-and-swaps
};

struct Finding {
    FaultKind found;
    u32 is_write;
    u64 address, size;
    const void* where;
    const void* other_where;  // for a race: the earlier access
    Index block, thread, other_thread;
    u32 other_block;
    AddressRange near;
    long long offset;  // offset of the address in `near` or in shared memory
    u64 waiting;       // blocks that have not started
    char text[160];
};

struct Written;

struct Device {
    const LaunchRequest* launch;
    const Entry* entry;
    Fiber* running;
    const char* stack;  // lowest byte of its stack, or nullptr
    u64 stack_bytes;
    void* caller;  // stack pointer of the launching thread
    BlockState* resident[MAX_RESIDENT];
    u32 ready_blocks;
    u32 slots;
    u64 started, total;
    u64 stride;  // stride of block numbers in start order, for Order::RANDOM
    u64 first;
    u32 threads, warps;
    BlockState* vacant;  // all its threads have returned, and blocks are left to start
    BlockState* loaded;  // block whose static shared variables are in the section
    u64 touched_low, touched_high;
    u64 random;
    u64 since_progress, spin_limit, alone;
    double deadline;
    u32 epochs;
    const AddressRange* last_range;
    Written** written;  // for each range, or nullptr if it is not tracked (arrays.hpp)
    u32* fenced;        // for each block, the time of its last fence
    u32 time;
    volatile const void* pending;  // a pending volatile store, and the previous value
    u64 pending_size, pending_value;
    LaunchCounts counts;
    Finding finding;
    bool finished;
};

extern Device device;

}  // namespace headrace::fibers
