// What the fibers know: threads, warps and blocks, the launch they belong to, and what was found.
//
// One operating-system thread runs one fiber at a time, so nothing here is locked and a launch is a function of its
// seed. Per thread: a stack and about 100 bytes; a switch saves six registers.
#pragma once
#include <cstddef>

#include "testing/fibers/interface.hpp"

namespace headrace::fibers {

constexpr u32 LANES = 32, MOST_WARPS = 32, MOST_THREADS = LANES * MOST_WARPS, MOST_RESIDENT = 32;
constexpr u64 STACK_LEFT = 1024;  // bytes of a thread's stack that are the harness's

// Of plain accesses; else the others are of no use to the checks.
#if defined(FIBERS_NO_ACCESS_HOOKS)
constexpr bool ACCESSES_ARE_SEEN = false;
#else
constexpr bool ACCESSES_ARE_SEEN = true;
#endif

// Which of the threads that can go on is next.
enum class Order : u32 { FORWARD, REVERSE, RANDOM };

// What a launch may end with. `testing/fibers/findings.py` has the same list, with words for each.
enum class Found : u32 {
    NOTHING,
    DIVERGENT_BARRIER,     // threads of a block at different barriers
    DIVERGENT_COLLECTIVE,  // lanes of one mask at different collectives, or lines
    WRONG_MASK,            // a mask without the calling lane; a shuffle from a lane that is not there
    DEADLOCK,              // all wait for threads that never come
    SPIN,                  // threads look at memory that nobody changes
    ENDLESS,               // a loop that looks at nothing
    TIME,
    OUT_OF_BOUNDS,
    READ_ONLY,
    OTHERS_LOCALS,  // a pointer into another thread's stack
    UNINITIALISED,  // shared memory that nobody wrote is read
    RACE,           // shared memory: two threads, one of them writes, no barrier between
    GLOBAL_RACE,    // an array: a thread reads what another has written, and nothing orders them
    UNWRITTEN,      // an array that held nothing yet is read before it is written
    UNDEFINED,      // what the language leaves undefined; misaligned vectors among it
    STACK,
    TRAP,
};

// What a thread is doing, for the report.
enum class Doing : u8 { READY, AT_BARRIER, IN_COLLECTIVE, DONE };

enum class Access : u8 { READ, WRITE, VOLATILE_READ, VOLATILE_WRITE, ATOMIC };

constexpr bool writes(Access access) { return access != Access::READ && access != Access::VOLATILE_READ; }

struct Block;

struct Fiber {
    void* stack_pointer;
    char* stack;  // its lowest byte
    Block* block;
    const void* where;  // in the kernel's code: its last call into the harness
    Index thread;
    u16 number, lane, warp;
    Doing doing;
    Collective what;
    int line;  // of the collective it waits in
    u32 mask, source;
    u32 fences;  // fences it has passed since its block began
    u64 value, result;
};

struct Warp {
    u32 ready, live, waiting;  // lanes that can go on; that have not returned; that stand in a collective
    u32 epoch;                 // changes when the warp is synchronised (__syncwarp)
    u32 passed;                // lanes that have interleaved since the round came to the warp
};

// Who touched a byte of shared memory last (shared.hpp).
struct Cell {
    u32 write_epoch, write_warp_epoch, read_epoch, read_warp_epoch;
    u32 writer_fences;
    u16 writer, reader;
    bool atomic_write, many_readers, readers_of_many_warps;
    const void* write_where;
    const void* read_where;
};

struct Block {
    Index index;
    u32 number;
    Fiber fibers[MOST_THREADS];
    Warp warps[MOST_WARPS];
    u32 slot;
    u32 live, at_barrier, ready_warps;
    u32 passed;         // warps that the round has left since it came to the block
    bool barrier_open;  // somebody waits at it
    Barrier barrier;
    int barrier_line;
    const void* barrier_where;
    u32 barrier_result;
    u32 epoch, first_epoch;  // changes when the block is synchronised
    char* stacks;
    char* statics;  // its static shared variables while another block has the section
    char* dynamic;
    Cell* cells;  // of each byte: static, then dynamic
};

// Memory that a kernel may touch: an argument's array.
struct Range {
    u64 low, size;
    u32 argument;
    u16 writable, unwritten;  // may it be written; does it hold nothing yet
};

struct Launch {
    Index grid, block;
    u64 shared;  // bytes of dynamic shared memory
    void** arguments;
    const Range* ranges;
    u64 range_count;
    const u16* owners;  // of each byte of the static shared variables: which one, from 1; 0 between them
    u64 seed;
    u64 stack_bytes;
    double seconds;
    Order order;
    u32 resident;
    u32 ascending;  // blocks start in the order of their indices
    u32 poison;     // byte that shared memory begins with
    u32 find_races, find_uninitialised, find_spins;
};

struct Counts {
    u64 blocks, threads;
    u64 interleavings;  // places where another thread might run
    u64 switches, block_switches;
    u64 barriers, collectives, atomics;  // thread-barriers: one for each thread that comes
    u64 lost_swaps;                      // compare-and-swaps that found another value
};

struct Finding {
    Found found;
    u32 is_write;
    u64 address, size;
    const void* where;
    const void* other_where;  // of a race: the access before
    Index block, thread, other_thread;
    u32 other_block;
    Range near;
    long long offset;  // of the address in `near`, or in shared memory
    u64 waiting;       // blocks that have not started
    char text[160];
};

struct Written;

struct Device {
    const Launch* launch;
    const Entry* entry;
    Fiber* running;
    void* caller;  // stack pointer of who launched
    Block* resident[MOST_RESIDENT];
    u32 ready_blocks;
    u32 slots;
    u64 started, total;
    u64 stride;  // of block numbers as they start, for Order::RANDOM
    u64 first;
    u32 threads, warps;
    Block* vacant;  // all its threads have returned, and more blocks are to start
    Block* loaded;  // whose static shared variables are in the section
    u64 touched_low, touched_high;
    u64 random;
    u64 since_progress, spin_limit, alone;
    double deadline;
    u32 epochs;
    const Range* last_range;
    Written** written;  // of each range, or nullptr: not followed (arrays.hpp)
    u32* fenced;        // of each block: the time of its last fence
    u32 time;
    volatile const void* pending;  // a volatile store that was about to happen, and what was there
    u64 pending_size, pending_value;
    Counts counts;
    Finding finding;
    bool finished;
};

extern Device device;

}  // namespace headrace::fibers
