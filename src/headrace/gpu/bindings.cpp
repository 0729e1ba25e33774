// Makes driver calls from Python: a launch, an allocation, a release, or a small copy through pinned memory is one call
// each. The driver is a table of function addresses, so neither the build nor the import needs CUDA. On an H200, a
// launch of ten arguments takes 3.6 us in the driver, 4.6 us through its Python bindings, and 12 us if Python packs
// them.
//
// The GIL is released during driver calls. If the launch queue is full, the driver waits for the device, which may wait
// for a Python callback of another library. Several launches are packed first, so that the GIL is released once for
// all.
#include "core/bindings.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/cpu/portable.hpp"
#include "gpu/device/driver_functions.hpp"
#include "gpu/kernels/addressed_words.hpp"
#include "gpu/kernels/bindings.hpp"
#include "gpu/kernels/trace.hpp"
#include "gpu/kernels/trace_chain.hpp"
#include "gpu/memory/pool_memory.hpp"
#include "gpu/memory/slabs.hpp"

namespace nb = nanobind;

namespace headrace {
namespace {

CardCalls card_calls(const std::vector<Address>& addresses) {
    CardCalls calls;
    usize next = 0;
    const auto next_function = [&](auto& function) {
        function = pointer_to<std::decay_t<decltype(function)>>(addresses.at(next++));
    };
    next_function(calls.launch);
    next_function(calls.copy_to_card);
    next_function(calls.copy_to_host);
    next_function(calls.record);
    next_function(calls.wait);
    next_function(calls.take);
    next_function(calls.give_back);
    next_function(calls.fill);
    next_function(calls.current);
    next_function(calls.make_current);
    next_function(calls.launch_with);
    next_function(calls.query);
    next_function(calls.is_capturing);
    next_function(calls.stream_id);
    if (next != addresses.size()) throw std::invalid_argument("more driver functions than this table has");
    return calls;
}

// Allocates from a pool in stream order; sets all bits of the first bytes, and clears those that follow. Returns the
// driver's status and the address.
std::pair<int, u64> take_memory(const CardCalls& calls, Address pool, usize n, Address stream,
                                std::pair<usize, usize> ones_and_zeros) {
    const GilRelease release;
    return take_filled(calls, pointer_to<void*>(pool), n, pointer_to<void*>(stream), ones_and_zeros);
}

// Makes a context current for this thread. Returns the driver's status, and the context that was current if it was
// another one (0 for none), so that the caller can restore it.
std::pair<int, std::optional<Address>> switch_context(const CardCalls& calls, Address context) {
    void* before = nullptr;
    int status = calls.current(&before);
    if (status != 0 || before == pointer_to<void*>(context)) return {status, std::nullopt};
    status = calls.make_current(pointer_to<void*>(context));
    if (status != 0) return {status, std::nullopt};
    return {0, reinterpret_cast<Address>(before)};
}

// Makes a context current while it exists. `status` is the driver's.
class ContextSwitch {
public:
    ContextSwitch(const CardCalls& calls, Address context) : calls_(calls) {
        std::tie(status, before_) = switch_context(calls, context);
    }
    ~ContextSwitch() {
        if (before_) calls_.make_current(pointer_to<void*>(*before_));
    }
    ContextSwitch(const ContextSwitch&) = delete;
    ContextSwitch& operator=(const ContextSwitch&) = delete;

    int status = 0;

private:
    const CardCalls& calls_;
    std::optional<Address> before_;
};

// Returns the driver's status, whether a stream of a context is captured into a graph, and the stream's id. A captured
// stream may not be asked for its id, which is then 0.
std::tuple<int, bool, u64> stream_state(const CardCalls& calls, Address stream, Address context) {
    const GilRelease release;
    const ContextSwitch switched(calls, context);
    int status = switched.status, capturing = 0;
    u64 id = 0;
    if (status == 0) status = calls.is_capturing(pointer_to<void*>(stream), &capturing);
    if (status == 0 && capturing == 0) status = calls.stream_id(pointer_to<void*>(stream), &id);
    return {status, capturing != 0, id};
}

// Frees memory in the order of a stream of this context. Any thread may call it, and the stream may be a default
// stream, so the context is made current for the call.
int give_memory_back(const CardCalls& calls, u64 memory, Address stream, Address context) {
    const GilRelease release;
    const ContextSwitch switched(calls, context);
    return switched.status != 0 ? switched.status : calls.give_back(memory, pointer_to<void*>(stream));
}

int fill_memory(const CardCalls& calls, u64 target, unsigned char byte, usize n, Address stream) {
    const GilRelease release;
    return calls.fill(target, byte, n, pointer_to<void*>(stream));
}

// Copies bytes to the device through pinned memory of at least that size, and records the event after the copy.
int send_small(const CardCalls& calls, nb::handle source, Address pinned, u64 target, Address stream, Address event) {
    const BorrowedBytes bytes(source);
    const GilRelease release;
    std::memcpy(pointer_to<void*>(pinned), bytes.data(), bytes.size());
    const int status = calls.copy_to_card(target, pointer_to<void*>(pinned), bytes.size(), pointer_to<void*>(stream));
    return status != 0 ? status : calls.record(pointer_to<void*>(event), pointer_to<void*>(stream));
}

// Records an event after the work of a stream, and waits for it.
int wait_for_stream(const CardCalls& calls, Address stream, Address event) {
    const GilRelease release;
    const int status = calls.record(pointer_to<void*>(event), pointer_to<void*>(stream));
    return status != 0 ? status : calls.wait(pointer_to<void*>(event));
}

// Waits for an event. Returns the driver's status.
int wait_for_event(const CardCalls& calls, Address event) {
    const GilRelease release;
    return calls.wait(pointer_to<void*>(event));
}

// Copies bytes to pinned memory, and waits for them.
int fetch_small(const CardCalls& calls, u64 source, Address pinned, usize n, Address stream, Address event) {
    const GilRelease release;
    int status = calls.copy_to_host(pointer_to<void*>(pinned), source, n, pointer_to<void*>(stream));
    if (status == 0) status = calls.record(pointer_to<void*>(event), pointer_to<void*>(stream));
    return status != 0 ? status : calls.wait(pointer_to<void*>(event));
}

}  // namespace

using Values = std::vector<usize>;
using Patches = std::vector<std::tuple<usize, usize, usize, usize>>;

// Builds a native trace (gpu/kernels/trace.hpp) from Python values, and replays it.
class TraceBuilder {
public:
    // `results`: an operation and the indices of its two values; `sizes`: indices of values.
    TraceBuilder(const CardCalls& calls, std::vector<i64> constants, usize inputs,
                 const std::vector<std::tuple<unsigned, usize, usize>>& results, Values sizes)
        : calls_(calls), launches_(calls, expressions(std::move(constants), inputs, results), std::move(sizes)) {}

    // Adds a launch. An argument that a value replaces is 0 here. Patches: parameter, first byte, size in bytes (0: the
    // whole parameter), value.
    void launch(const KernelCall& call, std::array<usize, 3> grid, nb::handle block, unsigned shared,
                nb::handle arguments, const Patches& patches) {
        PackedLaunch known(call, nb::int_(1), block, shared, arguments);
        std::vector<Patch> byte_patches;
        for (const auto& [number, byte, size, value] : patches) {
            const KernelParameter& parameter = call.parameters_.at(number);
            byte_patches.push_back({parameter.offset + byte, size == 0 ? parameter.size : size, value});
        }
        TraceStep step{call.kernel_, grid, known.shape_.block, shared, 0, {}};
        for (const KernelParameter& one : call.parameters_) step.places.push_back(one.offset);
        launches_.add(std::move(step), known.memory_, byte_patches);
    }

    void fill(usize target, unsigned char byte, usize size) {
        launches_.add({{}, {target, size, size}, {}, 0, byte, {}}, {}, {});
    }

    std::vector<u64> sizes(const std::vector<i64>& inputs) const { return launches_.sizes(inputs); }

    std::pair<usize, int> replay(const std::vector<i64>& inputs, Address stream, usize first) const {
        NativeTrace::Run run(launches_, inputs);
        const GilRelease release;
        return run.replay(pointer_to<void*>(stream), first);
    }

    // Replays with scratch memory whose address is the last input, and returns as `replay` does. The memory is
    // allocated, cleared in its first bytes, and freed after the last step, in the order of the stream.
    std::pair<usize, int> replay_with_scratch(std::vector<i64> inputs, std::tuple<Address, Address, Address> place,
                                              std::pair<usize, usize> zeros_and_bytes) const {
        const auto [context, stream, pool] = place;
        const auto [zeros, bytes] = zeros_and_bytes;
        void* const order = pointer_to<void*>(stream);
        const GilRelease release;
        const ContextSwitch switched(calls_, context);
        if (switched.status != 0) return {0, switched.status};
        const PoolMemory scratch(calls_, pointer_to<void*>(pool), bytes, order, {0, zeros});
        if (scratch.status != 0) return {0, scratch.status};
        inputs.push_back(static_cast<i64>(scratch.address));
        return NativeTrace::Run(launches_, inputs).replay(order, 0);
    }

    const NativeTrace& launches() const { return launches_; }

private:
    static Expressions expressions(std::vector<i64> constants, usize inputs,
                                   const std::vector<std::tuple<unsigned, usize, usize>>& results) {
        std::vector<Expressions::Result> found;
        for (const auto& [operation, first, second] : results)
            found.push_back({static_cast<TraceOperation>(operation), first, second});
        return {std::move(constants), inputs, std::move(found)};
    }

    CardCalls calls_;
    NativeTrace launches_;
};

namespace {

using SlabLimits = std::tuple<usize, usize, usize>;  // the fields of SlabRule

SlabRule rule_of(const SlabLimits& limits) {
    const auto [alignment, large, slab] = limits;
    return {alignment, large, slab};
}

// Builds a chain of two traces (gpu/kernels/trace_chain.hpp), and launches it.
class ChainBuilder {
public:
    using Links = std::vector<std::optional<usize>>;

    // `zeroed`: numbers of cleared buffers of both traces. `ends`: the buffers of the table and of the results.
    ChainBuilder(const CardCalls& calls, const TraceBuilder& first, const TraceBuilder& second,
                 std::pair<usize, usize> zeroed, const AddressedWords& table, const Links& links,
                 std::pair<usize, usize> ends)
        : chain_(calls, {first.launches(), zeroed.first}, {second.launches(), zeroed.second}, table,
                 {links, ends.first, ends.second}) {}

    // Launches both traces. `head`: address and bytes of what is copied to the host first. `later`: sizes, and numbers
    // of buffers of ones and of filled ones. `where`: the stream, the pool and pinned memory. `events`: after the head,
    // and after all. Returns the status, the memory of the later buffers, and that of the first trace's if `keeps`.
    nb::tuple run(std::tuple<u64, std::vector<i64>, SlabLimits> first, std::pair<u64, usize> head,
                  std::tuple<std::vector<i64>, std::vector<u64>, std::pair<u64, u64>, usize> second,
                  std::tuple<std::vector<usize>, usize, usize, SlabLimits> later,
                  std::tuple<Address, Address, Address, std::pair<Address, Address>> where, bool keeps) const {
        auto [text, numbers, first_limits] = std::move(first);
        auto [second_numbers, suffix, strided, fetched] = std::move(second);
        auto [sizes, ones, filled, limits] = std::move(later);
        const auto [stream, pool, pinned, events] = where;
        const SlabLayout layout({std::move(sizes), ones, filled}, rule_of(limits));
        std::optional<ChainRun> run;
        {
            const GilRelease release;
            const ChainPlace place = {pointer_to<void*>(stream), pointer_to<void*>(pool), rule_of(first_limits)};
            const ChainHead copied = {head.first, head.second, pointer_to<void*>(events.first)};
            const ChainEnd end = {std::move(second_numbers),
                                  std::move(suffix),
                                  strided,
                                  fetched,
                                  layout,
                                  keeps,
                                  pointer_to<std::byte*>(pinned),
                                  pointer_to<void*>(events.second)};
            run = chain_.run(text, std::move(numbers), copied, end, place);
        }
        return nb::make_tuple(run->status, memory_of(run->later, layout), memory_of(run->retained, run->first));
    }

private:
    // Returns each slab: its address, its bytes, and one past its last buffer; then the words of the buffers' offsets
    // in the slabs.
    static nb::tuple memory_of(const std::vector<u64>& addresses, const SlabLayout& layout) {
        nb::list slabs;
        for (usize i = 0; i < addresses.size(); ++i)
            slabs.append(nb::make_tuple(addresses[i], layout.slabs()[i].bytes, layout.slabs()[i].end));
        const std::vector<usize>& begins = layout.begins();
        return nb::make_tuple(slabs, nb::bytes(begins.data(), begins.size() * sizeof(usize)));
    }

    TraceChain chain_;
};

nb::bytes words_at(const AddressedWords& table, u64 begin, const std::vector<u64>& addresses,
                   std::pair<u64, u64> strided, const std::vector<u64>& suffix) {
    std::vector<u64> words(table.size() + suffix.size());
    table.write(words.data(), begin, addresses, strided, suffix);
    return nb::bytes(words.data(), words.size() * sizeof(u64));
}

// Copies results from pinned memory, without their last `ones` bytes if all bits of these are set.
nb::bytes results_at(Address pinned, usize n, usize ones) {
    const char* const begin = pointer_to<const char*>(pinned);
    const char* const last = begin + n - ones;
    const bool is_plain = ones != 0 && *last == '\xFF' && std::memcmp(last, last + 1, ones - 1) == 0;
    return nb::bytes(begin, is_plain ? n - ones : n);
}

// Lays buffers out in slabs. Returns, for each slab, one past its last buffer, its bytes, ones and zeros; then the
// offset of each buffer.
nb::tuple lay_out_buffers(const std::vector<usize>& sizes, std::pair<usize, usize> ones_and_filled,
                          const SlabLimits& rule) {
    const auto [ones, filled] = ones_and_filled;
    const Slabs found = lay_out(sizes, ones, filled, rule_of(rule));
    nb::list slabs;
    for (const Slab& one : found.slabs) slabs.append(nb::make_tuple(one.end, one.bytes, one.ones, one.zeros));
    return nb::make_tuple(slabs, found.begins);
}

}  // namespace

void bind_gpu(nb::module_& m) {
    nb::class_<CardCalls>(m, "CardCalls")
        .def_static("make", &card_calls)
        .def("take", &take_memory)
        .def("give_back", &give_memory_back)
        .def("switch_context", &switch_context)
        .def("stream_state", &stream_state)
        .def("fill", &fill_memory)
        .def("send", &send_small)
        .def("fetch", &fetch_small)
        .def("wait_for", &wait_for_stream)
        .def("wait", &wait_for_event);
    nb::class_<KernelCall>(m, "KernelCall")
        .def(nb::init<const CardCalls&, Address, const std::vector<std::tuple<usize, usize, std::string>>&, int>(),
             nb::arg("calls"), nb::arg("kernel"), nb::arg("layout"), nb::arg("mode") = 0)
        .def("launch", &launch);
    m.def("launch_all", &launch_all);
    m.def("lay_out", &lay_out_buffers);
    m.def("results_at", &results_at);
    nb::class_<TraceBuilder>(m, "NativeTrace")
        .def(nb::init<const CardCalls&, std::vector<i64>, usize, const std::vector<std::tuple<unsigned, usize, usize>>&,
                      Values>())
        .def("launch", &TraceBuilder::launch)
        .def("fill", &TraceBuilder::fill)
        .def("sizes", &TraceBuilder::sizes)
        .def("replay", &TraceBuilder::replay)
        .def("replay_with_scratch", &TraceBuilder::replay_with_scratch);
    nb::class_<AddressedWords>(m, "AddressedWords")
        .def(nb::init<std::vector<u64>, std::vector<usize>, std::vector<std::pair<usize, usize>>, std::vector<usize>>())
        .def("at", &words_at)
        .def_prop_ro("nbytes", [](const AddressedWords& table) { return table.size() * sizeof(u64); });
    nb::class_<ChainBuilder>(m, "TraceChain")
        .def(nb::init<const CardCalls&, const TraceBuilder&, const TraceBuilder&, std::pair<usize, usize>,
                      const AddressedWords&, const ChainBuilder::Links&, std::pair<usize, usize>>())
        .def("run", &ChainBuilder::run);
}

}  // namespace headrace
