// Gives one worker a window of a source: its text in UTF-8, whatever the source's encoding. It also maps positions in
// the text to bytes of the source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/cpu/block_cache.hpp"
#include "sources/source.hpp"

namespace headrace {

class Window {
public:
    explicit Window(const Source& source) : source_(source), encoding_(source.encoding()) {}

    // Moves the window to the source's bytes [offset, offset + n), clipped at the source's end, and `lookahead`
    // following bytes. A character that begins before `offset` is left out, and one that begins before the end is
    // complete: adjacent windows contain each character once.
    void open(std::uint64_t offset, std::size_t n, std::size_t lookahead = 0);

    // Extends the text to at least n bytes, unless the source ends before. data() may change.
    void extend(std::size_t n);

    // The text, followed by 64 readable bytes.
    const std::uint8_t* data() const { return data_; }
    std::size_t size() const { return size_; }

    // Bytes of text without the lookahead, which follows them.
    std::size_t owned() const { return owned_; }

    // Returns the byte of the source at which the character at position `at` begins; for size(), the end of the window.
    std::uint64_t origin(std::size_t at) const;

    // Returns the position of the first character that begins at byte `origin` of the source or after it. The result is
    // 0 for a byte before the window, size() for one after it. The search begins at position `from`.
    std::size_t place_of(std::uint64_t origin, std::size_t from = 0) const;

    // Returns whether the text reaches the end of the source.
    bool at_end() const { return end_ == source_.size(); }

private:
    static constexpr std::size_t PADDING = 64;
    static constexpr std::size_t MARK = 4096;
    std::uint8_t* copy() const { return copy_.as<std::uint8_t>(); }
    bool point_to_resident(std::size_t n);
    void copy_to(std::size_t n);
    std::uint64_t cut(std::uint64_t at) const;
    void decode_to(std::uint64_t end);
    void reserve(std::size_t n);
    void set_marks() const;

    const Source& source_;
    const Encoding& encoding_;
    WorkMemory copy_, encoded_;
    const std::uint8_t* data_ = nullptr;
    std::size_t size_ = 0, owned_ = 0;
    std::uint64_t begin_ = 0, end_ = 0;         // bytes of the source
    mutable std::vector<std::uint64_t> marks_;  // source bytes before each MARK bytes of text
};

}  // namespace headrace
