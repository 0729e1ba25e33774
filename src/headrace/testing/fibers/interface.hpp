// Declares what a kernel calls in the harness: thread indices, and operations that synchronise threads. Kernels are
// compiled with the compiler's hooks (hooks.hpp) and the harness is not, so these are calls into another unit. `line`
// is the calling line of the kernel: threads must synchronise in the same line.
#pragma once
#include "core/cpu/portable.hpp"

namespace headrace::fibers {

struct Index {
    unsigned x, y, z;
};

// Collectives of a warp; the last one has no mask.
enum class Collective : u8 { SYNC, BALLOT, SHUFFLE, MATCH_ANY, MATCH_ALL, ADD, MIN, MAX, AND, OR, XOR, ACTIVE };
enum class SyncKind : u8 { PLAIN, COUNT, AND, OR };
enum class Atomic : u8 { ADD, MIN, MAX, AND, OR, XOR, EXCHANGE, COMPARE_AND_SWAP, INCREMENT, DECREMENT };
enum class Scope : u8 { BLOCK, DEVICE };
enum class Type : u8 { U16, U32, U64, I32, I64, F32, F64 };

// A fiber's indices never change, so the compiler may reuse the result (`const`).
[[gnu::const]] Index thread_index();
[[gnu::const]] Index block_index();
[[gnu::const]] Index block_size();
[[gnu::const]] Index grid_size();
[[gnu::const]] unsigned lane_index();

u64 meet(Collective what, unsigned mask, u64 value, unsigned source, int line);
int meet_block(SyncKind what, int predicate, int line);
u64 atomic(Atomic what, Type type, void* address, u64 operand, u64 expected);
// Access of 16 bytes at once, which C++'s volatile cannot express.
void load_16(const void* from, void* to);
void store_16(void* to, const void* from);
void fence(Scope scope);
void pause();
[[noreturn]] void trap();
void* dynamic_shared();

// Kinds of parameters, for callers that know values but no types.
enum class ParameterKind : u8 { POINTER, UNSIGNED, SIGNED, FLOATING, BYTES };

struct Entry {
    void (*call)(void** arguments);
    u32 count;
    const ParameterKind* kinds;
    const u32* sizes;
};

}  // namespace headrace::fibers
