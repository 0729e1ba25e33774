// A window of a source that one worker looks through: text in UTF-8, whatever the source's encoding is, and the way
// back from a place in the text to the source's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sources/source.hpp"

namespace headrace {

// What a window keeps its text in; the next window may have it.
struct WindowMemory {
    std::unique_ptr<std::uint8_t[]> copy;
    std::size_t room = 0;
    std::vector<std::uint8_t> encoded;
};

class Window {
public:
    explicit Window(const Source& source, WindowMemory memory = {})
        : source_(source), encoding_(source.encoding()), memory_(std::move(memory)) {}

    // The window has no text from then on.
    WindowMemory give_memory() { return std::exchange(memory_, {}); }

    // Moves the window to the text of the source's bytes [offset, offset + n), cut at its end, and of `ahead` more
    // behind them. A character that begins before `offset` is left out and one that begins before the end is whole, so
    // windows side by side have every character once.
    void open(std::uint64_t offset, std::size_t n, std::size_t ahead = 0);

    // Makes the text n bytes long at least, unless the source ends before; data() may move.
    void extend(std::size_t n);

    // The text, and 64 readable bytes behind it.
    const std::uint8_t* data() const { return data_; }
    std::size_t size() const { return size_; }

    // Bytes of text that open() was asked for; those ahead are behind them.
    std::size_t owned() const { return owned_; }

    // The byte of the source where the character at place `at` begins; the end of the window's bytes for size().
    std::uint64_t origin(std::size_t at) const;

    // The place of the first character that begins at a byte of the source or behind it: 0 for a byte before the
    // window, size() for one behind it. A search begins at place `from`.
    std::size_t place_of(std::uint64_t origin, std::size_t from = 0) const;

    // Whether nothing of the source is behind the text.
    bool at_end() const { return end_ == source_.size(); }

private:
    static constexpr std::size_t PADDING = 64;
    static constexpr std::size_t MARK = 4096;
    bool point_to_resident(std::size_t n);
    void copy_to(std::size_t n);
    std::uint64_t cut(std::uint64_t at) const;
    void decode_to(std::uint64_t end);
    void reserve(std::size_t n);
    void set_marks() const;

    const Source& source_;
    const Encoding& encoding_;
    WindowMemory memory_;
    const std::uint8_t* data_ = nullptr;
    std::size_t size_ = 0, owned_ = 0;
    std::uint64_t begin_ = 0, end_ = 0;         // in the source
    mutable std::vector<std::uint64_t> marks_;  // bytes of the source that the text before each MARK bytes stands for
};

}  // namespace headrace
