// Launches that were worked out once, of symbols, and are told for one text after another (gpu/kernels/trace.py): a
// list of steps over numbers, then what the driver is told. About 0.5 us beside what the driver takes.
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

// As gpu/kernels/trace_expressions.py has them.
enum class Operation : u8 { add, subtract, multiply, divide, remainder, least, most };

// The quotient is rounded down, as Python has it: -(-7 / 2) is 4.
inline i64 divided(i64 first, i64 second) {
    if (second == 0) throw std::domain_error("a recorded number is divided by 0");
    const i64 quotient = first / second;
    return quotient - ((first % second != 0 && (first < 0) != (second < 0)) ? 1 : 0);
}

inline i64 figure(Operation operation, i64 first, i64 second) {
    switch (operation) {
        case Operation::add:
            return first + second;
        case Operation::subtract:
            return first - second;
        case Operation::multiply:
            return first * second;
        case Operation::divide:
            return divided(first, second);
        case Operation::remainder:
            return first - divided(first, second) * second;
        case Operation::least:
            return std::min(first, second);
        case Operation::most:
            return std::max(first, second);
    }
    throw std::invalid_argument("no such operation");
}

// Values: constants, what a run is given, and what is worked out of values before.
class Figures {
public:
    struct Made {
        Operation operation;
        usize first, second;
    };

    Figures() = default;
    Figures(std::vector<i64> constants, usize inputs, std::vector<Made> made)
        : constants_(std::move(constants)), inputs_(inputs), made_(std::move(made)) {
        for (usize i = 0; i < made_.size(); ++i) {
            check(made_[i].first, first_made() + i);
            check(made_[i].second, first_made() + i);
        }
    }

    usize size() const { return first_made() + made_.size(); }
    void check(usize value) const { check(value, size()); }

    std::vector<i64> of(const std::vector<i64>& inputs) const {
        if (inputs.size() != inputs_) throw std::invalid_argument("a run is given other numbers than were recorded");
        std::vector<i64> values;
        values.reserve(size());
        values.insert(values.end(), constants_.begin(), constants_.end());
        values.insert(values.end(), inputs.begin(), inputs.end());
        for (const Made& one : made_) values.push_back(figure(one.operation, values[one.first], values[one.second]));
        return values;
    }

private:
    usize first_made() const { return constants_.size() + inputs_; }
    static void check(usize value, usize behind) {
        if (value >= behind) throw std::invalid_argument("a recorded value that is not there yet");
    }

    std::vector<i64> constants_;
    usize inputs_ = 0;
    std::vector<Made> made_;
};

// Bytes of an argument that are a value.
struct Patch {
    usize place, size, value;
};

// A kernel, or, without one, memory that is filled: `grid` is then its address and size.
struct RecordedStep {
    CardKernel kernel;
    std::array<usize, 3> grid;  // values
    std::array<unsigned, 3> block;
    unsigned shared;
    unsigned char byte;
    std::vector<usize> places;  // of arguments among all bytes
};

class RecordedLaunches {
public:
    RecordedLaunches(const CardCalls& calls, Figures figures, std::vector<usize> sizes)
        : calls_(calls), figures_(std::move(figures)), sizes_(std::move(sizes)) {
        for (const usize size : sizes_) figures_.check(size);
    }

    // Adds a step; places and patches count from the first of its bytes.
    void add(RecordedStep step, const std::vector<std::byte>& bytes, const std::vector<Patch>& patches) {
        const usize begin = (bytes_.size() + 15) / 16 * 16;
        bytes_.resize(begin + bytes.size());
        std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin));
        for (usize& place : step.places) place += begin;
        for (const Patch& one : patches) {
            figures_.check(one.value);
            if (one.size > 8 || one.place + one.size > bytes.size())
                throw std::invalid_argument("a value behind the bytes");
            patches_.push_back({begin + one.place, one.size, one.value});
        }
        for (const usize value : step.grid) figures_.check(value);
        steps_.push_back(std::move(step));
    }

    // Bytes of the rooms that a run makes, of its inputs but for their addresses.
    std::vector<u64> sizes(std::vector<i64> inputs) const {
        inputs.resize(inputs.size() + sizes_.size());
        const std::vector<i64> values = figures_.of(inputs);
        std::vector<u64> found;
        for (const usize size : sizes_) found.push_back(static_cast<u64>(values[size]));
        return found;
    }

    // Tells the steps from one on: how many are told, and the driver's status of the next one, if it failed.
    class Run {
    public:
        Run(const RecordedLaunches& recorded, const std::vector<i64>& inputs)
            : recorded_(recorded), values_(recorded.figures_.of(inputs)), bytes_(recorded.bytes_) {
            for (const Patch& one : recorded.patches_) put(one);
            for (const RecordedStep& step : recorded.steps_) {
                for (const usize value : step.grid) {
                    if (step.kernel.handle != nullptr && (values_[value] < 0 || values_[value] > 0xFFFFFFFF))
                        throw std::overflow_error("a grid has no so many blocks");
                }
            }
        }

        std::pair<usize, int> tell(void* stream, usize first) {
            for (usize told = first; told < recorded_.steps_.size(); ++told) {
                const int status = tell(recorded_.steps_[told], stream);
                if (status != 0) return {told, status};
            }
            return {recorded_.steps_.size(), 0};
        }

    private:
        void put(const Patch& patch) {
            const i64 value = values_[patch.value];
            if (patch.size < 8 && (value < 0 || static_cast<u64>(value) >> (patch.size * 8) != 0))
                throw std::overflow_error("a kernel's argument does not fit its bytes");
            std::memcpy(bytes_.data() + patch.place, &value, patch.size);
        }

        int tell(const RecordedStep& step, void* stream) {
            if (step.kernel.handle == nullptr) {
                const auto size = static_cast<usize>(values_[step.grid[1]]);
                return size == 0
                           ? 0
                           : recorded_.calls_.fill(static_cast<u64>(values_[step.grid[0]]), step.byte, size, stream);
            }
            arguments_.clear();
            for (const usize place : step.places) arguments_.push_back(bytes_.data() + place);
            const auto blocks = [&](usize i) { return static_cast<unsigned>(values_[step.grid[i]]); };
            const LaunchShape shape = {{blocks(0), blocks(1), blocks(2)}, step.block, step.shared};
            return launch_on_card(recorded_.calls_, step.kernel, shape, stream, arguments_.data());
        }

        const RecordedLaunches& recorded_;
        std::vector<i64> values_;
        std::vector<std::byte> bytes_;
        std::vector<void*> arguments_;
    };

private:
    CardCalls calls_;
    Figures figures_;
    std::vector<usize> sizes_;  // values
    std::vector<std::byte> bytes_;
    std::vector<Patch> patches_;
    std::vector<RecordedStep> steps_;
};

}  // namespace headrace
