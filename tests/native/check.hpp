// A test is a plain program: CHECKs in functions, a list of functions in main, and `return finish();`.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <type_traits>

namespace check {

inline std::uint64_t passed = 0;
inline std::uint64_t failed = 0;

// Counts a check; returns whether a message is due, which is not after twenty of them.
inline bool count(bool good) {
    if (good) {
        ++passed;
        return false;
    }
    return ++failed <= 20;
}

// Bytes and other small enumerations print as numbers.
template <class T>
auto printable(const T& value) {
    if constexpr (std::is_enum_v<T>) {
        return static_cast<long long>(value);
    } else if constexpr (std::is_integral_v<T>) {
        return +value;
    } else {
        return value;
    }
}

template <class A, class B>
void equal(const A& actual, const B& expected, const char* text, const char* file, int line) {
    if (!count(actual == expected)) return;
    std::cerr << file << ':' << line << ": " << text << ": " << printable(actual) << " is not " << printable(expected)
              << '\n';
}

// The first argument of a program, by which a build with a slow sanitizer asks for fewer repeats; else `usual`.
inline int first_argument(int count, char** arguments, int usual) {
    return count > 1 ? std::atoi(arguments[1]) : usual;
}

inline int finish() {
    if (failed != 0) std::cerr << failed << " checks failed\n";
    std::cout << passed << " checks passed\n";
    return failed == 0 ? 0 : 1;
}

// A repeatable sequence of 64-bit numbers (splitmix64 of Steele, Lea and Flood), seeded with the test's name.
class Random {
public:
    explicit Random(std::string_view name) {
        for (const char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    }

    std::uint64_t next() {
        state_ += 0x9E3779B97F4A7C15;
        std::uint64_t x = state_;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
        return x ^ (x >> 31);
    }

    // 0 .. bound - 1
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }

private:
    std::uint64_t state_ = 0xCBF29CE484222325;
};

}  // namespace check

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (check::count(static_cast<bool>(condition)))                             \
            std::cerr << __FILE__ << ':' << __LINE__ << ": " << #condition << '\n'; \
    } while (false)

#define CHECK_EQ(actual, expected) check::equal((actual), (expected), #actual, __FILE__, __LINE__)
