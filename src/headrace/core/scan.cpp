#include "core/scan.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "core/pool.hpp"

namespace headrace {
namespace {

constexpr u64 least_part = 1 << 16;

// Calls work with an operator of that name.
template <class Item, class Work>
void with_join(std::string_view join, const Work& work) {
    if (join == "Min") return work(Min<Item>());
    if (join == "Max") return work(Max<Item>());
    if constexpr (is_integer<Item> && !is_signed<Item>) {
        if (join == "Sum") return work(Sum<Item>());
        if (join == "Compose") return work(Compose<Item>());
    }
    throw std::invalid_argument("no such operator");
}

template <class Work>
void with_operator(std::string_view join, std::string_view item, const Work& work) {
    if (item == "u32") return with_join<u32>(join, work);
    if (item == "i32") return with_join<i32>(join, work);
    if (item == "u64") return with_join<u64>(join, work);
    if (item == "i64") return with_join<i64>(join, work);
    if (item == "float") return with_join<float>(join, work);
    if (item == "double") return with_join<double>(join, work);
    throw std::invalid_argument("no such type of items");
}

unsigned threads_for(u64 count, unsigned threads) {
    return static_cast<unsigned>(std::clamp<u64>(count / least_part, 1, threads));
}

u64 part_begin(u64 count, unsigned part, unsigned parts) {
    return count / parts * part + std::min<u64>(part, count % parts);
}

// Where the compiler may not reorder items, runs of them are joined side by side, so that a step need not wait for the
// one before it.
template <class Op>
typename Op::Item join_all(const typename Op::Item* in, u64 count) {
    constexpr u64 runs = Op::commutes ? 1 : 8;
    const u64 length = count / runs;
    typename Op::Item joined[runs];
    for (auto& one : joined) one = Op::identity();
    for (u64 i = 0; i < length; ++i) {
        for (u64 run = 0; run < runs; ++run) joined[run] = Op::join(joined[run], in[run * length + i]);
    }
    auto all = joined[0];
    for (u64 run = 1; run < runs; ++run) all = Op::join(all, joined[run]);
    for (u64 i = runs * length; i < count; ++i) all = Op::join(all, in[i]);
    return all;
}

// Each part's items joined.
template <class Op>
std::vector<typename Op::Item> join_parts(const typename Op::Item* in, u64 count, unsigned parts) {
    std::vector<typename Op::Item> joined(parts);
    run_parallel(parts, [&](unsigned part) {
        const u64 begin = part_begin(count, part, parts);
        joined[part] = join_all<Op>(in + begin, part_begin(count, part + 1, parts) - begin);
    });
    return joined;
}

template <class Op>
void scan_part(const typename Op::Item* in, typename Op::Item* out, u64 count, typename Op::Item before,
               bool exclusive) {
    for (u64 i = 0; i < count; ++i) {
        const auto after = Op::join(before, in[i]);
        out[i] = exclusive ? before : after;
        before = after;
    }
}

}  // namespace

void scan(std::string_view join, std::string_view item, ArrayPair arrays, bool exclusive, unsigned threads) {
    with_operator(join, item, [&]<class Op>(Op) {
        using Item = typename Op::Item;
        const auto* in = static_cast<const Item*>(arrays.in);
        auto* out = static_cast<Item*>(arrays.out);
        const unsigned parts = threads_for(arrays.count, threads);
        if (parts == 1) return scan_part<Op>(in, out, arrays.count, Op::identity(), exclusive);
        std::vector<Item> before = join_parts<Op>(in, arrays.count, parts);
        scan_part<Op>(before.data(), before.data(), parts, Op::identity(), true);
        run_parallel(parts, [&](unsigned part) {
            const u64 begin = part_begin(arrays.count, part, parts);
            const u64 size = part_begin(arrays.count, part + 1, parts) - begin;
            scan_part<Op>(in + begin, out + begin, size, before[part], exclusive);
        });
    });
}

void reduce(std::string_view join, std::string_view item, ArrayPair arrays, unsigned threads) {
    with_operator(join, item, [&]<class Op>(Op) {
        using Item = typename Op::Item;
        const unsigned parts = threads_for(arrays.count, threads);
        const std::vector<Item> joined = join_parts<Op>(static_cast<const Item*>(arrays.in), arrays.count, parts);
        *static_cast<Item*>(arrays.out) = join_all<Op>(joined.data(), parts);
    });
}

}  // namespace headrace
