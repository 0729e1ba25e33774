// Finds a pattern in host memory by methods of Rabin and Karp. Every hit is compared byte by byte.
#pragma once

#include <functional>

#include "query/find/cpu/find.hpp"
#include "query/find/paper/fingerprint.hpp"

namespace headrace {

// Returns the fewest bits of a byte by which all bytes of the pattern and of a sample of the text differ.
Fingerprint code_for(const FindPattern& pattern, std::string_view sample);

// Returns the fingerprint of a window of a pattern. `code` has its offset, width, bits and shift.
Fingerprint fingerprint_of(const FindPattern& pattern, FingerprintForm form, const Fingerprint& code);

struct RabinKarpSearch {
    FingerprintForm form;
    Fingerprint print;
    bool is_serial;  // one thread searches the text as one piece
};

// Return the number of positions, which may overlap.
u64 rabin_karp_count(const FindPattern& pattern, const FindText& text, const RabinKarpSearch& search, unsigned threads);

// Call `allocate` once with that number, and write the positions, ascending.
void rabin_karp_positions(const FindPattern& pattern, const FindText& text, const RabinKarpSearch& search,
                          const std::function<u64*(u64)>& allocate, unsigned threads);

}  // namespace headrace
