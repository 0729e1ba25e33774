// Replays a traced sequence of launches (gpu/kernels/trace.py). A replay evaluates the expressions for one input,
// patches the results into the packed arguments, and calls the driver for each step. It takes 0.5 us beside the
// driver's time.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/cpu/portable.hpp"
#include "gpu/device/driver_functions.hpp"

namespace headrace {

// Numbered as in gpu/kernels/trace_expressions.py.
enum class TraceOperation : u8 { add, subtract, multiply, divide, remainder, minimum, maximum };

// Quotient rounded down, as in Python: -7 / 2 is -4.
inline i64 floor_divide(i64 first, i64 second) {
    if (second == 0) throw std::domain_error("a traced number is divided by 0");
    const i64 quotient = first / second;
    return quotient - ((first % second != 0 && (first < 0) != (second < 0)) ? 1 : 0);
}

inline i64 evaluate(TraceOperation operation, i64 first, i64 second) {
    switch (operation) {
        case TraceOperation::add:
            return first + second;
        case TraceOperation::subtract:
            return first - second;
        case TraceOperation::multiply:
            return first * second;
        case TraceOperation::divide:
            return floor_divide(first, second);
        case TraceOperation::remainder:
            return first - floor_divide(first, second) * second;
        case TraceOperation::minimum:
            return std::min(first, second);
        case TraceOperation::maximum:
            return std::max(first, second);
    }
    throw std::invalid_argument("no such operation");
}

// Values of a run, in this order: constants, inputs, results of operations on preceding values.
class Expressions {
public:
    struct Result {
        TraceOperation operation;
        usize first, second;
    };

    Expressions() = default;
    Expressions(std::vector<i64> constants, usize inputs, std::vector<Result> results)
        : constants_(std::move(constants)), inputs_(inputs), results_(std::move(results)) {
        for (usize i = 0; i < results_.size(); ++i) {
            check(results_[i].first, first_result() + i);
            check(results_[i].second, first_result() + i);
        }
    }

    usize size() const { return first_result() + results_.size(); }
    void check(usize value) const { check(value, size()); }

    std::vector<i64> of(const std::vector<i64>& inputs) const {
        if (inputs.size() != inputs_) throw std::invalid_argument("a run has another count of inputs than the trace");
        std::vector<i64> values;
        values.reserve(size());
        values.insert(values.end(), constants_.begin(), constants_.end());
        values.insert(values.end(), inputs.begin(), inputs.end());
        for (const Result& one : results_)
            values.push_back(evaluate(one.operation, values[one.first], values[one.second]));
        return values;
    }

private:
    usize first_result() const { return constants_.size() + inputs_; }
    static void check(usize value, usize end) {
        if (value >= end) throw std::invalid_argument("an operation uses a later value");
    }

    std::vector<i64> constants_;
    usize inputs_ = 0;
    std::vector<Result> results_;
};

// Bytes of an argument that a value replaces.
struct Patch {
    usize place, size, value;
};

// A launch; without a kernel handle, a fill of the memory whose address and size are the first two of `grid`.
struct TraceStep {
    CardKernel kernel;
    std::array<usize, 3> grid;  // indices of values
    std::array<unsigned, 3> block;
    unsigned shared;
    unsigned char byte;
    std::vector<usize> places;  // offsets of the arguments in the packed bytes
};

class NativeTrace {
public:
    NativeTrace(const CardCalls& calls, Expressions expressions, std::vector<usize> sizes)
        : calls_(calls), expressions_(std::move(expressions)), sizes_(std::move(sizes)) {
        for (const usize size : sizes_) expressions_.check(size);
    }

    // Adds a step. Its places and patches are relative to `bytes`.
    void add(TraceStep step, const std::vector<std::byte>& bytes, const std::vector<Patch>& patches) {
        const usize begin = (bytes_.size() + 15) / 16 * 16;
        bytes_.resize(begin + bytes.size());
        std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin));
        for (usize& place : step.places) place += begin;
        for (const Patch& one : patches) {
            expressions_.check(one.value);
            if (one.size > 8 || one.place + one.size > bytes.size())
                throw std::invalid_argument("a patch lies outside the arguments");
            patches_.push_back({begin + one.place, one.size, one.value});
        }
        for (const usize value : step.grid) expressions_.check(value);
        steps_.push_back(std::move(step));
    }

    // Sizes of the buffers that a run allocates, from its inputs without the addresses of those buffers.
    std::vector<u64> sizes(std::vector<i64> inputs) const {
        inputs.resize(inputs.size() + sizes_.size());
        const std::vector<i64> values = expressions_.of(inputs);
        std::vector<u64> found;
        for (const usize size : sizes_) found.push_back(static_cast<u64>(values[size]));
        return found;
    }

    // Makes the steps from `first` on. Returns the index of the failed step, or the count of steps, and its status.
    class Run {
    public:
        Run(const NativeTrace& trace, const std::vector<i64>& inputs)
            : trace_(trace), values_(trace.expressions_.of(inputs)), bytes_(trace.bytes_) {
            for (const Patch& one : trace.patches_) put(one);
            for (const TraceStep& step : trace.steps_) {
                for (const usize value : step.grid) {
                    if (step.kernel.handle != nullptr && (values_[value] < 0 || values_[value] > 0xFFFFFFFF))
                        throw std::overflow_error("a grid has more blocks than 32 bits count");
                }
            }
        }

        std::pair<usize, int> replay(void* stream, usize first) {
            for (usize step = first; step < trace_.steps_.size(); ++step) {
                const int status = replay(trace_.steps_[step], stream);
                if (status != 0) return {step, status};
            }
            return {trace_.steps_.size(), 0};
        }

    private:
        void put(const Patch& patch) {
            const i64 value = values_[patch.value];
            if (patch.size < 8 && (value < 0 || static_cast<u64>(value) >> (patch.size * 8) != 0))
                throw std::overflow_error("a kernel's argument does not fit its bytes");
            std::memcpy(bytes_.data() + patch.place, &value, patch.size);
        }

        int replay(const TraceStep& step, void* stream) {
            if (step.kernel.handle == nullptr) {
                const auto size = static_cast<usize>(values_[step.grid[1]]);
                return size == 0 ? 0
                                 : trace_.calls_.fill(static_cast<u64>(values_[step.grid[0]]), step.byte, size, stream);
            }
            arguments_.clear();
            for (const usize place : step.places) arguments_.push_back(bytes_.data() + place);
            const auto blocks = [&](usize i) { return static_cast<unsigned>(values_[step.grid[i]]); };
            const LaunchShape shape = {{blocks(0), blocks(1), blocks(2)}, step.block, step.shared};
            return launch_on_card(trace_.calls_, step.kernel, shape, stream, arguments_.data());
        }

        const NativeTrace& trace_;
        std::vector<i64> values_;
        std::vector<std::byte> bytes_;
        std::vector<void*> arguments_;
    };

private:
    CardCalls calls_;
    Expressions expressions_;
    std::vector<usize> sizes_;  // indices of values
    std::vector<std::byte> bytes_;
    std::vector<Patch> patches_;
    std::vector<TraceStep> steps_;
};

}  // namespace headrace
