// Runs one launch: assigns blocks to slots and threads to fibers, and starts the first fiber. Control returns here when
// all threads have returned or a fault is found. Compiled once, without the compiler's hooks, and linked to each
// program.
#include <pthread.h>
#include <signal.h>

#include "testing/fibers/collectives.hpp"
#if defined(FIBERS_NO_ACCESS_HOOKS)
extern "C" void __asan_unpoison_memory_region(const volatile void*, unsigned long) __attribute__((weak));
#endif
#include "testing/fibers/hooks.hpp"

namespace headrace::fibers {

Device device;

Index thread_index() { return device.running->thread; }
Index block_index() { return device.running->block->index; }
Index block_size() { return device.launch->block; }
Index grid_size() { return device.launch->grid; }
unsigned lane_index() { return device.running->lane; }
void* dynamic_shared() { return device.running->block->dynamic; }

constexpr u64 CANARY = 0xC0FFEE0DDBA11AD5, DYNAMIC_ALIGNMENT = 1024;

inline char* map(u64 bytes) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? nullptr : static_cast<char*>(p);
}

// Memory of a slot: block, stacks, static variables, dynamic memory.
struct BlockLayout {
    u64 stacks, statics, dynamic, bytes;
};

inline u64 pages(u64 bytes) { return (bytes + 4095) / 4096 * 4096 + 4096; }

inline BlockLayout layout_of(const LaunchRequest& launch) {
    BlockLayout layout{};
    layout.stacks = pages(sizeof(BlockState));
    layout.statics = layout.stacks + pages(launch.stack_bytes * device.threads);
    layout.dynamic = layout.statics + pages(statics_size());
    layout.bytes = layout.dynamic + pages(launch.shared) + DYNAMIC_ALIGNMENT;
    return layout;
}

// Return memory of `bytes` at least, or nullptr if there is none. It is zeroed if more than before is mapped.
inline char* take(MappedPages& mapping, u64 bytes) {
    if (bytes > mapping.bytes) {
        if (mapping.memory) munmap(mapping.memory, mapping.bytes);
        const u64 rounded = 1ull << (64 - __builtin_clzll(bytes));
        mapping = {map(rounded), rounded};
        if (!mapping.memory) mapping.bytes = 0;
    }
    return mapping.memory;
}

// Return cells whose epochs are 0 or earlier than the next.
inline Cell* take_cells(FiberMemory& memory, u64 count) {
    if (memory.epochs >= 1u << 31) {
        munmap(memory.cells.memory, memory.cells.bytes);
        memory.cells = {};
        memory.epochs = 0;
    }
    device.epochs = static_cast<u32>(memory.epochs);
    return reinterpret_cast<Cell*>(take(memory.cells, (count + 1) * sizeof(Cell)));
}

[[noreturn]] void run_thread();

inline Index index_of(u64 number, Index size) {
    return {static_cast<u32>(number % size.x), static_cast<u32>(number / size.x % size.y),
            static_cast<u32>(number / size.x / size.y)};
}

inline void begin_thread(BlockState& block, u32 i) {
    const LaunchRequest& launch = *device.launch;
    Fiber& fiber = block.fibers[i];
    char* stack = block.stacks + i * launch.stack_bytes;
    fiber = {};
    fiber.stack = stack;
    fiber.block = &block;
    fiber.thread = index_of(i, launch.block);
    fiber.number = static_cast<u16>(i);
    fiber.lane = static_cast<u16>(i % LANES);
    fiber.warp = static_cast<u16>(i / LANES);
    memcpy(stack, &CANARY, sizeof CANARY);
    // Stack tops differ in their low bits. Otherwise all stacks would share a few cache sets.
    u64* top = reinterpret_cast<u64*>(stack + launch.stack_bytes - 64 - i % 16 * 192);
    *--top = 0;
    *--top = reinterpret_cast<u64>(&run_thread);
    for (int saved = 0; saved < 6; ++saved) *--top = 0;
    fiber.stack_pointer = top;
    Warp& warp = block.warps[fiber.warp];
    warp.live |= 1u << fiber.lane;
}

// Return the number of the block that starts as the `turn`-th, since CUDA promises no order.
inline u64 number_of(u64 turn) {
    const LaunchRequest& launch = *device.launch;
    if (launch.ascending || launch.order == Order::FORWARD) return turn;
    if (launch.order == Order::REVERSE) return device.total - 1 - turn;
    __extension__ using u128 = unsigned __int128;
    return static_cast<u64>((static_cast<u128>(turn) * device.stride + device.first) % device.total);
}

inline void begin_block(BlockState& block) {
    const LaunchRequest& launch = *device.launch;
    block.number = static_cast<u32>(number_of(device.started++));
    block.index = index_of(block.number, launch.grid);
    block.live = device.threads;
    block.at_barrier = block.ready_warps = block.passed = 0;
    block.barrier_open = false;
    block.epoch = block.first_epoch = ++device.epochs;
    memset(block.warps, 0, sizeof block.warps);
#if defined(FIBERS_NO_ACCESS_HOOKS)
    if (__asan_unpoison_memory_region) __asan_unpoison_memory_region(block.stacks, launch.stack_bytes * device.threads);
#endif
    for (u32 i = 0; i < device.threads; ++i) begin_thread(block, i);
    for (u32 i = 0; i < device.warps; ++i) {
        block.warps[i].epoch = ++device.epochs;
        make_ready(block, i, block.warps[i].live);
    }
    fill_bytes(block.dynamic, launch.poison, launch.shared);
    const u64 low = device.touched_low, n = low < device.touched_high ? device.touched_high - low : 0;
    if (device.loaded == &block) {
        fill_bytes(reinterpret_cast<char*>(low), launch.poison, n);
    } else {
        fill_bytes(block.statics, launch.poison, statics_size());
    }
    ++device.counts.blocks;
    device.counts.threads += device.threads;
    progress();
}

void run_thread() {
    device.entry->call(device.launch->arguments);
    Fiber& me = *device.running;
    BlockState& block = *me.block;
    Warp& warp = block.warps[me.warp];
    u64 canary;
    memcpy(&canary, me.stack, sizeof canary);
    if (canary != CANARY) stop(FaultKind::STACK, me.where);
    me.doing = Doing::DONE;
    device.alone = 0;
    warp.live &= ~(1u << me.lane);
    make_wait(block, me.warp, 1u << me.lane);
    finish_all(block, me.warp);
    if (--block.live == 0) {
        if (device.started < device.total) {
            device.vacant = &block;
            void* nowhere;
            fibers_switch(&nowhere, device.caller);
        }
        bool all = true;
        for (u32 slot = 0; slot < device.slots; ++slot) all &= device.resident[slot]->live == 0;
        device.finished = all;
    } else if (block.at_barrier == block.live) {
        release(block);
    }
    progress();
    leave();
    __builtin_unreachable();
}

inline u64 greatest_divisor(u64 a, u64 b) {
    while (b) {
        const u64 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

inline void prepare(const LaunchRequest& launch) {
    device.threads = launch.block.x * launch.block.y * launch.block.z;
    device.warps = (device.threads + LANES - 1) / LANES;
    device.total = static_cast<u64>(launch.grid.x) * launch.grid.y * launch.grid.z;
    device.slots = static_cast<u32>(launch.resident < device.total ? launch.resident : device.total);
    device.random = (launch.seed + 1) * 0x9E3779B97F4A7C15ull | 1;
    for (int i = 0; i < 8; ++i) draw();
    device.first = draw() % device.total;
    do device.stride = draw() % device.total;
    while (device.total > 1 && greatest_divisor(device.stride, device.total) != 1);
    // High enough that every thread that can run has had its turn in any random order.
    device.spin_limit = 4096 + 512ull * device.threads * device.slots;
    device.deadline = now() + launch.seconds;
    device.stack_bytes = launch.stack_bytes;
    device.touched_low = ~0ull;
#if defined(FIBERS_NO_ACCESS_HOOKS)
    device.spin_limit = ~0ull;  // plain stores also count as progress, and are not observed
    device.touched_low = statics_low();
    device.touched_high = statics_low() + statics_size();
#endif
}

// Describe a thread of a resident block for the report.
struct WaitingThread {
    headrace::fibers::Index block, thread;
    u32 doing, what;
    const void* where;
};

constexpr u32 MAX_REPORTED = MAX_THREADS * MAX_RESIDENT;
WaitingThread waiting[MAX_REPORTED];
u32 waiting_count;

inline void collect_waiting() {
    waiting_count = 0;
    for (u32 slot = 0; slot < device.slots; ++slot) {
        const BlockState& block = *device.resident[slot];
        for (u32 i = 0; i < device.threads; ++i) {
            const Fiber& fiber = block.fibers[i];
            waiting[waiting_count++] = {block.index, fiber.thread, static_cast<u32>(fiber.doing),
                                        static_cast<u32>(fiber.what), fiber.where};
        }
    }
}

#define FIBERS_EXPORT extern "C" __attribute__((visibility("default")))

// Cells of the tracked arrays. Untouched pages cost nothing.
inline u64 followed_bytes(const LaunchRequest& launch) {
    u64 bytes = pages(launch.range_count * sizeof(Written*)) + pages(device.total * sizeof(u32));
    for (u64 i = 0; i < launch.range_count; ++i) {
        const AddressRange& range = launch.ranges[i];
        if (range.writable && range.size <= MAX_FOLLOWED) bytes += pages(range.size * sizeof(Written));
    }
    return bytes;
}

inline void lay_out(const LaunchRequest& launch, char* memory) {
    device.written = reinterpret_cast<Written**>(memory);
    memory += pages(launch.range_count * sizeof(Written*));
    device.fenced = reinterpret_cast<u32*>(memory);
    memory += pages(device.total * sizeof(u32));
    for (u64 i = 0; i < launch.range_count; ++i) {
        const AddressRange& range = launch.ranges[i];
        if (!range.writable || range.size > MAX_FOLLOWED) continue;
        device.written[i] = reinterpret_cast<Written*>(memory);
        memory += pages(range.size * sizeof(Written));
    }
    device.time = 1;
}

// Makes illegal instructions findings, as long as it lives. A program ends with one where its behaviour is undefined.
class TrapHandler {
public:
    TrapHandler() {
        thread_ = pthread_self();
        alignas(16) static char memory[1 << 16];  // a fiber's stack may have no room for the signal's frame
        stack_t stack = {};
        stack.ss_sp = memory;
        stack.ss_size = sizeof memory;
        sigaltstack(&stack, &stack_);
        struct sigaction action = {};
        action.sa_sigaction = on_trap;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;  // the handler does not return
        sigaction(SIGILL, &action, &action_);
    }
    ~TrapHandler() {
        sigaction(SIGILL, &action_, nullptr);
        sigaltstack(&stack_, nullptr);
    }

private:
    static void on_trap(int, siginfo_t*, void* context) {
        if (!device.running || !pthread_equal(pthread_self(), thread_)) {  // not the kernel's: it ends the process
            signal(SIGILL, SIG_DFL);
            raise(SIGILL);
        }
        const auto at = static_cast<u64>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
        stop(FaultKind::UNDEFINED, reinterpret_cast<const void*>(at + 1),
             "HEADRACE_FIBERS_BUILD=explained says which rule is broken");
    }
    static inline pthread_t thread_;  // the one that launches
    stack_t stack_;
    struct sigaction action_;
};

// Run the kernel. Return 0 if all threads have returned, 1 if there is a `finding`, 2 if memory for fibers is missing.
FIBERS_EXPORT int fibers_launch(const Entry* entry, const LaunchRequest* launch, LaunchCounts* counts,
                                Finding* finding) {
    const TrapHandler handler;
    device = Device{};
    device.launch = launch;
    device.entry = entry;
    prepare(*launch);
    const BlockLayout layout = layout_of(*launch);
    const u64 shared_bytes = statics_size() + launch->shared;
    char* memory = take(launch->memory->blocks, layout.bytes * device.slots);
    Cell* cells = take_cells(*launch->memory, shared_bytes * device.slots);
    const u64 followed = followed_bytes(*launch);
    char* written = map(followed);
    if (!memory || !cells || !written) return 2;
    lay_out(*launch, written);
    fill_bytes(__start_fibers_shared, launch->poison, statics_size());
    for (u32 slot = 0; slot < device.slots; ++slot) {
        char* at = memory + slot * layout.bytes;
        BlockState& block = *reinterpret_cast<BlockState*>(at);
        block.slot = slot;
        block.stacks = at + layout.stacks;
        block.statics = at + layout.statics;
        block.cells = cells + slot * shared_bytes;
        block.dynamic = reinterpret_cast<char*>((reinterpret_cast<u64>(at + layout.dynamic) + DYNAMIC_ALIGNMENT - 1) /
                                                DYNAMIC_ALIGNMENT * DYNAMIC_ALIGNMENT);
        device.resident[slot] = &block;
        begin_block(block);
    }
    do {
        if (device.vacant) begin_block(*device.vacant);
        device.vacant = nullptr;
        make_running(any_of(*device.resident[pick(device.ready_blocks, before_first())]));
        fibers_switch(&device.caller, device.running->stack_pointer);
    } while (device.vacant);
    device.running = nullptr;
    device.stack = nullptr;
    if (device.finding.found != FaultKind::NOTHING) collect_waiting();
    munmap(written, followed);
    launch->memory->epochs = device.epochs;
    *counts = device.counts;
    *finding = device.finding;
    return device.finding.found != FaultKind::NOTHING;
}

FIBERS_EXPORT u32 fibers_threads(const WaitingThread** threads) {
    *threads = waiting;
    return waiting_count;
}

FIBERS_EXPORT const void* fibers_image() { return __ehdr_start; }
FIBERS_EXPORT u64 fibers_statics() { return statics_size(); }

}  // namespace headrace::fibers
