// A hash table of texts that threads fill together. Each text has the first of its rows, whichever thread comes first.
#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "columns/dictionary/few_texts.hpp"
#include "columns/dictionary/text_column.hpp"
#include "columns/dictionary/text_key.hpp"
#include "core/cpu/threads/thread_pool.hpp"

namespace headrace {

// Linear probing, at most half full. A slot has a text of at most 16 bytes itself, so most lookups read one slot and
// call nothing. For a longer text it has the hash and the address. The slots of several texts are fetched at once, and
// then the texts of those slots, so that their cache misses overlap. Hashes have a seed that differs from table to
// table, so that colliding texts cannot be prepared. Which slot a text has depends on the seed and on the threads.
class TextTable {
public:
    // `slots`: a power of two, at least 64 for each thread.
    TextTable(u64 seed, usize slots, unsigned threads)
        : seed_(seed),
          mask_(slots - 1),
          limit_(slots / 2),
          memory_(std::make_unique_for_overwrite<std::byte[]>((slots + 1) * sizeof(Slot))) {
        void* at = memory_.get();
        usize space = (slots + 1) * sizeof(Slot);
        slots_ = static_cast<Slot*>(std::align(sizeof(Slot), slots * sizeof(Slot), at, space));
        each_part(threads,
                  [&](usize begin, usize end) { std::uninitialized_value_construct_n(slots_ + begin, end - begin); });
    }

    // Call `use(begin, end)` for ranges of slots, on all threads.
    template <class Use>
    void each_part(unsigned threads, const Use& use) const {
        constexpr usize SLOTS = 1 << 14;
        run_each((size() + SLOTS - 1) / SLOTS, threads,
                 [&](usize part) { use(part * SLOTS, std::min(size(), (part + 1) * SLOTS)); });
    }

    // Write the slots of the texts of rows [begin, end), which may be inserted; nulls have none. Return `end`, or an
    // earlier row if the table is full. Then a larger one has to be filled from the column's first row on.
    u64 insert(const TextColumn& texts, u64 begin, u64 end, u32* places) {
        return insert_many(texts, insert_few(texts, begin, end, places), end, places);
    }

    usize text_count() const { return used_.load(std::memory_order_relaxed); }

    // The following functions are for tables that are filled.

    usize size() const { return mask_ + 1; }
    bool has_text(usize place) const { return slots_[place].state.load(std::memory_order_relaxed) == FULL; }
    u64 first_row(usize place) const { return slots_[place].first.load(std::memory_order_relaxed); }

private:
    static constexpr u32 EMPTY = 0, BUSY = 1, FULL = 2;
    static constexpr usize LANES = 16;
    static constexpr usize FEW_TEXTS = 256;

    // `low` and `high`: a text of at most 16 bytes, or the hash and the address of a longer one. `size`: at most
    // 2^32 - 1. They are written while the slot is busy, and never again.
    struct Slot {
        std::atomic<u32> state{EMPTY};
        u32 size = 0;
        u64 low = 0, high = 0;
        std::atomic<u64> first{0};
    };
    static u32 stored_size(std::string_view text) { return static_cast<u32>(std::min<usize>(text.size(), 0xFFFFFFFF)); }
    static const char* address_of(const Slot& slot) { return reinterpret_cast<const char*>(slot.high); }

    // Insert rows while there are few texts. Nearly all have been looked up before. Return the first row that is left.
    [[gnu::noinline]] u64 insert_few(const TextColumn& texts, u64 begin, u64 end, u32* places) {
        const usize few = std::min(FEW_TEXTS, limit_);
        if (text_count() > few || texts.form == TextForm::view || texts.all_bytes() == 0) return begin;
        FewTexts known;
        for (u64 row = begin; row < end; ++row) {
            if (texts.is_null(row)) continue;
            const std::string_view text = texts.text(row);
            if (known.find(reinterpret_cast<const u8*>(text.data()), text.size(), places[row])) continue;
            if (text_count() > few) return row;
            usize added = 0;
            places[row] = place_of(texts, text, TextKey::of(text, seed_), row, added);
            known.add(text, places[row]);
            if (added != 0) used_.fetch_add(added, std::memory_order_relaxed);
        }
        return end;
    }

    [[gnu::noinline]] u64 insert_many(const TextColumn& texts, u64 begin, u64 end, u32* places) {
        std::array<std::string_view, LANES> given;
        std::array<TextKey, LANES> keys;
        for (u64 first = begin; first < end; first += LANES) {
            if (text_count() > limit_) return first;
            const usize count = static_cast<usize>(std::min<u64>(LANES, end - first));
            for (usize i = 0; i < count; ++i) {
                given[i] = texts.is_null(first + i) ? std::string_view() : texts.text(first + i);
                keys[i] = TextKey::of(given[i], seed_);
                __builtin_prefetch(&slots_[keys[i].hash & mask_]);
            }
            for (usize i = 0; i < count; ++i) {
                const Slot& slot = slots_[keys[i].hash & mask_];
                if (TextKey::has_all(given[i].size()) || slot.state.load(std::memory_order_acquire) != FULL) continue;
                if (slot.low == keys[i].low) __builtin_prefetch(address_of(slot));
            }
            usize added = 0;
            for (usize i = 0; i < count; ++i) {
                if (!texts.is_null(first + i)) places[first + i] = place_of(texts, given[i], keys[i], first + i, added);
            }
            if (added != 0) used_.fetch_add(added, std::memory_order_relaxed);
        }
        return end;
    }

    // Return the slot of a text, which is inserted if it has none; then `added` grows.
    u32 place_of(const TextColumn& texts, std::string_view text, const TextKey& key, u64 row, usize& added) {
        for (usize at = key.hash & mask_;; at = (at + 1) & mask_) {
            Slot& slot = slots_[at];
            u32 state = slot.state.load(std::memory_order_acquire);
            if (state == EMPTY &&
                slot.state.compare_exchange_strong(state, BUSY, std::memory_order_acquire, std::memory_order_acquire)) {
                slot.size = stored_size(text);
                slot.low = key.low;
                slot.high = TextKey::has_all(text.size()) ? key.high : reinterpret_cast<u64>(text.data());
                slot.first.store(row, std::memory_order_relaxed);
                slot.state.store(FULL, std::memory_order_release);
                ++added;
                return static_cast<u32>(at);
            }
            while (state == BUSY) {  // for a few stores, or until its thread has a core again
                std::this_thread::yield();
                state = slot.state.load(std::memory_order_acquire);
            }
            if (!is_same(texts, text, key, slot)) continue;
            u64 first = slot.first.load(std::memory_order_relaxed);
            while (row < first && !slot.first.compare_exchange_weak(first, row, std::memory_order_relaxed)) {
            }
            return static_cast<u32>(at);
        }
    }

    static bool is_same(const TextColumn& texts, std::string_view text, const TextKey& key, const Slot& slot) {
        if (slot.low != key.low || slot.size != stored_size(text)) return false;
        if (TextKey::has_all(text.size())) return slot.high == key.high;
        if (slot.size == 0xFFFFFFFF && texts.text(slot.first.load(std::memory_order_relaxed)).size() != text.size()) {
            return false;
        }
        return std::memcmp(address_of(slot), text.data(), text.size()) == 0;
    }

    static_assert(sizeof(Slot) == 32 && std::is_trivially_destructible_v<Slot>);

    u64 seed_;
    usize mask_, limit_;
    std::unique_ptr<std::byte[]> memory_;
    Slot* slots_;
    alignas(64) std::atomic<usize> used_{0};
};

}  // namespace headrace
