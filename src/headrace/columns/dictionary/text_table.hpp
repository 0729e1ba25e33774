// A hash table of texts that threads fill together. Each text has the first of its rows, whichever thread comes first.
// It encodes finished columns (dictionary.cpp), and the tiles of a load (text_coder.hpp).
#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "columns/dictionary/few_texts.hpp"
#include "columns/dictionary/text_key.hpp"
#include "core/cpu/memory.hpp"
#include "core/cpu/threads/thread_pool.hpp"

namespace headrace {

// Linear probing, at most half full. A slot has a text of at most 16 bytes itself, so most lookups read one slot and
// call nothing. For a longer text it has the hash and the address. The slots of several texts are fetched at once, and
// then the texts of those slots, so that their cache misses overlap. Hashes have a seed that differs from table to
// table, so that colliding texts cannot be prepared. Which slot a text has depends on the seed and on the threads.
class TextTable {
public:
    // `slots`: at least 64 for each thread.
    TextTable(u64 seed, usize slots, unsigned threads)
        : seed_(seed),
          size_(slots),
          limit_(slots / 2),
          uncounted_(slots >= MANY_SLOTS ? 256 : 0),
          memory_(slots * sizeof(Slot), nullptr) {
        memory_.ensure(slots * sizeof(Slot));
        slots_ = memory_.as<Slot>();
        constexpr usize PART = 1 << 16;  // 2 MB, so that few threads touch the same huge page first
        run_each((slots + PART - 1) / PART, threads, [&](usize part) {
            std::uninitialized_value_construct_n(slots_ + part * PART, std::min(PART, slots - part * PART));
        });
    }

    // Write the codes of rows [begin, end), whose texts may be inserted; that of a null is 0. Return `end`, or an
    // earlier row if the table is full. `known`: texts that the thread has looked up. `texts` has six functions:
    // - `get(i, text)` returns false for a null, whose text is empty;
    // - `row(i)`: row of the column;
    // - `mark(row)` is called for each row that no known row of its text precedes;
    // - `keep(slot, text)` is called once for each text, and returns its address as long as the table lives;
    // - `code(slot)`: code of a text that was kept;
    // - `may_be_few()`: whether 32 bytes from any text on are readable.
    template <class Texts>
    u64 insert(const Texts& texts, u64 begin, u64 end, FewTexts& known, u32* codes) {
        return insert_many(texts, insert_few(texts, begin, end, known, codes), end, codes);
    }

    usize text_count() const { return used_.load(std::memory_order_relaxed); }

    // The following functions are for tables that are filled.

    usize size() const { return size_; }
    bool has_text(usize place) const { return slots_[place].state.load(std::memory_order_relaxed) >= FULL; }
    u64 first_row(usize place) const { return slots_[place].first.load(std::memory_order_relaxed); }

private:
    static constexpr u64 EMPTY = 0, BUSY = 1, FULL = 2;
    static constexpr usize LANES = 16;
    static constexpr usize FEW_TEXTS = 64;
    static constexpr usize MANY_SLOTS = 1 << 20;  // room for more uncounted texts of all threads

    // `low` and `high`: a text of at most 16 bytes, or the hash and the address of a longer one. They are written while
    // the slot is busy, and never again. `state`: FULL and the bytes of the text, if there is one.
    struct Slot {
        std::atomic<u64> state{EMPTY};
        u64 low = 0, high = 0;
        std::atomic<u64> first{0};
    };
    usize first_place(const TextKey& key) const { return static_cast<usize>(multiply_wide(key.hash, size_).high); }
    static const char* address_of(const Slot& slot) { return reinterpret_cast<const char*>(slot.high); }

    // Insert rows while there are few texts. Nearly all have been looked up before. Return the first row that is left.
    template <class Texts>
    [[gnu::noinline]] u64 insert_few(const Texts& all, u64 begin, u64 end, FewTexts& known, u32* codes) {
        const Texts texts = all;  // the compiler cannot know that codes are not written to `all`
        const usize few = std::min(FEW_TEXTS, limit_);
        if (text_count() > few || !texts.may_be_few()) return begin;
        for (u64 i = begin; i < end; ++i) {
            std::string_view text;
            if (!texts.get(i, text)) {
                codes[i] = 0;
            } else if (!known.find(reinterpret_cast<const u8*>(text.data()), text.size(), codes[i])) [[unlikely]] {
                if (text_count() > few) return i;
                codes[i] = look_up(texts, text, i);
                known.add(text, codes[i]);
            }
        }
        return end;
    }

    template <class Texts>
    [[gnu::noinline]] u32 look_up(const Texts& texts, std::string_view text, u64 i) {
        usize added = 0;
        const u32 code = code_of(texts, text, TextKey::of(text, seed_), texts.row(i), added);
        count_texts(added);
        return code;
    }

    // The keys of several texts are made before the first is looked up.
    template <class Texts>
    [[gnu::noinline]] u64 insert_many(const Texts& all, u64 begin, u64 end, u32* codes) {
        const Texts texts = all;
        std::array<std::string_view, LANES> given;
        std::array<TextKey, LANES> keys;
        std::array<bool, LANES> valid;
        usize added = 0;  // and not counted yet
        u64 first = begin;
        for (; first < end && text_count() + added <= limit_; first += LANES) {
            const usize count = static_cast<usize>(std::min<u64>(LANES, end - first));
            for (usize i = 0; i < count; ++i) {
                valid[i] = texts.get(first + i, given[i]);
                keys[i] = TextKey::of(given[i], seed_);
                __builtin_prefetch(&slots_[first_place(keys[i])]);
            }
            for (usize i = 0; i < count; ++i) {
                const Slot& slot = slots_[first_place(keys[i])];
                if (TextKey::has_all(given[i].size()) || slot.state.load(std::memory_order_acquire) < FULL) continue;
                if (slot.low == keys[i].low) __builtin_prefetch(address_of(slot));
            }
            for (usize i = 0; i < count; ++i) {
                codes[first + i] = valid[i] ? code_of(texts, given[i], keys[i], texts.row(first + i), added) : 0;
            }
            if (added > uncounted_) count_texts(added);
        }
        count_texts(added);
        return std::min(first, end);
    }

    void count_texts(usize& added) {
        if (added != 0) used_.fetch_add(added, std::memory_order_relaxed);
        added = 0;
    }

    // Keep the bytes of a new text. If memory is refused, its slot is free again, so that no thread waits for it.
    template <class Texts>
    static const char* address_in(const Texts& texts, usize at, std::string_view text, Slot& slot) {
        try {
            return texts.keep(at, text);
        } catch (...) {
            slot.state.store(EMPTY, std::memory_order_release);
            throw;
        }
    }

    // Return the code of a text, which is inserted if it has none; then `added` grows.
    template <class Texts>
    u32 code_of(const Texts& texts, std::string_view text, const TextKey& key, u64 row, usize& added) {
        const u64 full = FULL + text.size();
        for (usize at = first_place(key);; at = at + 1 == size_ ? 0 : at + 1) {
            Slot& slot = slots_[at];
            u64 state = slot.state.load(std::memory_order_acquire);
            if (state == EMPTY &&
                slot.state.compare_exchange_strong(state, BUSY, std::memory_order_acquire, std::memory_order_acquire)) {
                slot.low = key.low;
                const char* const address = address_in(texts, at, text, slot);
                slot.high = TextKey::has_all(text.size()) ? key.high : reinterpret_cast<u64>(address);
                slot.first.store(row, std::memory_order_relaxed);
                slot.state.store(full, std::memory_order_release);
                texts.mark(row);
                ++added;
                return texts.code(at);
            }
            while (state == BUSY) {  // for a few stores, or until its thread has a core again
                std::this_thread::yield();
                state = slot.state.load(std::memory_order_acquire);
            }
            if (state != full || slot.low != key.low || !is_same(text, key, slot)) continue;
            u64 first = slot.first.load(std::memory_order_relaxed);
            while (row < first && !slot.first.compare_exchange_weak(first, row, std::memory_order_relaxed)) {
            }
            if (row < first) texts.mark(row);
            return texts.code(at);
        }
    }

    // Texts of one size are equal if their keys are, and the bytes of long ones.
    static bool is_same(std::string_view text, const TextKey& key, const Slot& slot) {
        if (TextKey::has_all(text.size())) return slot.high == key.high;
        return std::memcmp(address_of(slot), text.data(), text.size()) == 0;
    }

    static_assert(sizeof(Slot) == 32 && std::is_trivially_destructible_v<Slot>);

    u64 seed_;
    usize size_, limit_;
    usize uncounted_;  // texts that a thread adds before it counts them: threads contend for the count
    Region memory_;    // a cached one: most tables are larger than their texts
    Slot* slots_;
    alignas(64) std::atomic<usize> used_{0};
};

}  // namespace headrace
