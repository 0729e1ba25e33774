// Inputs, tokens and options as files and arguments hold them. Part of the driver.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "mutate.hpp"

namespace fuzz {

struct Options {
    std::map<std::string, std::string> values;
    double number(const std::string& name, double otherwise) const {
        const auto found = values.find(name);
        return found == values.end() ? otherwise : std::atof(found->second.c_str());
    }
    std::string text(const std::string& name) const {
        const auto found = values.find(name);
        return found == values.end() ? "" : found->second;
    }
};

inline Bytes read_file(const std::string& name) {
    std::ifstream file(name, std::ios::binary);
    if (!file) {
        std::fprintf(stderr, "cannot read %s\n", name.c_str());
        std::exit(2);
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

inline Bytes from_hex(const std::string& digits) {
    Bytes bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        bytes += static_cast<char>(std::strtol(digits.substr(i, 2).c_str(), nullptr, 16));
    return bytes;
}

// Lines such as "a\x0A\"": a token in quotes, with \xNN, \\ and \".
inline void read_tokens(const std::string& name, Mutator& mutator) {
    std::ifstream file(name);
    for (std::string line; std::getline(file, line);) {
        if (line.size() < 2 || line.front() != '"') continue;
        Bytes token;
        for (std::size_t i = 1; i + 1 < line.size(); ++i) {
            if (line[i] != '\\') {
                token += line[i];
            } else if (line[++i] == 'x') {
                token += from_hex(line.substr(i + 1, 2));
                i += 2;
            } else {
                token += line[i];
            }
        }
        mutator.add_token(token);
    }
}

// An input as one line of a corpus.
inline std::string to_hex(const Bytes& bytes) {
    std::string line;
    for (const char byte : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", static_cast<std::uint8_t>(byte));
        line += digits;
    }
    return line;
}

}  // namespace fuzz
