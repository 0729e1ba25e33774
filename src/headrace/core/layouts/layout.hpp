// Describes the fields of a C++ struct at compile time, so that Python need not declare the struct again.
//
// A struct that Python packs for a kernel is declared once, in the header that the kernel includes. One line of a
// bindings.cpp registers it, and headrace.core.layouts.layout makes a NumPy dtype of it:
//
//     register_layouts<ConvertTask, FieldFault>();
//
// Works for aggregates of up to 24 members without base classes: integers, enums, bools, floats, pointers, arrays of
// these, and other such aggregates. Host code only: kernels see the plain struct.
//
// Members are counted by the number of braced initialisers that the struct takes, and bound by a structured binding.
// A member's name is read from the compiler's text for a template argument that points to the member: GCC writes
// "... {(& held<Task>.Held<Task>::value.Task::size)}", Clang "... {&held.value.size}".
#pragma once

#include <concepts>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/cpu/portable.hpp"

namespace headrace {

struct StructLayout;

struct FieldLayout {
    std::string name;
    std::string format;               // as NumPy writes it, such as "u8" for a u64 or a pointer; empty for a struct
    std::vector<usize> shape;         // of an array; empty for a single value
    usize offset;                     // in bytes
    std::vector<StructLayout> inner;  // one, if the field is a struct
};

struct StructLayout {
    usize size;  // in bytes
    std::vector<FieldLayout> fields;
};

// All registered structs, by name without namespace.
inline std::map<std::string, StructLayout, std::less<>>& struct_layouts() {
    static std::map<std::string, StructLayout, std::less<>> layouts;
    return layouts;
}

namespace layout_detail {

struct Anything {
    template <class T>
    operator T() const;
};
template <usize>
using AnythingAt = Anything;

template <class T, usize... member>
constexpr bool takes(std::index_sequence<member...>) {
    return requires { T{{AnythingAt<member>{}}...}; };
}

template <class T, usize count = 1>
constexpr usize member_count() {
    if constexpr (takes<T>(std::make_index_sequence<count>{})) {
        return member_count<T, count + 1>();
    } else {
        return count - 1;
    }
}

// clang-format off
#define HR_BIND(count, ...) \
    if constexpr (member_count<std::remove_const_t<T>>() == count) { \
        auto& [__VA_ARGS__] = value; \
        return std::tie(__VA_ARGS__); \
    } else
template <class T>
constexpr auto members(T& value) {
    HR_BIND(1, a)
    HR_BIND(2, a, b)
    HR_BIND(3, a, b, c)
    HR_BIND(4, a, b, c, d)
    HR_BIND(5, a, b, c, d, e)
    HR_BIND(6, a, b, c, d, e, f)
    HR_BIND(7, a, b, c, d, e, f, g)
    HR_BIND(8, a, b, c, d, e, f, g, h)
    HR_BIND(9, a, b, c, d, e, f, g, h, i)
    HR_BIND(10, a, b, c, d, e, f, g, h, i, j)
    HR_BIND(11, a, b, c, d, e, f, g, h, i, j, k)
    HR_BIND(12, a, b, c, d, e, f, g, h, i, j, k, l)
    HR_BIND(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
    HR_BIND(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
    HR_BIND(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
    HR_BIND(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    HR_BIND(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
    HR_BIND(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
    HR_BIND(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
    HR_BIND(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
    HR_BIND(21, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
    HR_BIND(22, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
    HR_BIND(23, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
    HR_BIND(24, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
    static_assert(sizeof(T) == 0, "a layout has 1 to 24 members");
}
#undef HR_BIND
// clang-format on

template <class T>
struct Held {
    const T value;
};
template <class T>
inline constexpr Held<T> held{};  // only addresses of its members are used; sanitizers need the object to exist

template <class T>
struct Pointer {
    const T* to;
};

template <auto pointer>
constexpr std::string_view pointer_text() {
    constexpr std::string_view text = __PRETTY_FUNCTION__;
    constexpr usize end = text.find_first_of(")}", text.find("value."));
    return text.substr(0, end);
}

template <class T>
constexpr std::string_view type_text() {
    constexpr std::string_view text = __PRETTY_FUNCTION__;
    return text.substr(0, text.find_first_of(";]", text.find("T = ")));
}

constexpr std::string_view last_identifier(std::string_view text) { return text.substr(text.find_last_of(":. ") + 1); }

template <class T>
StructLayout describe();

template <class T>
std::string format_of() {
    if constexpr (std::is_pointer_v<T>) {
        return "u8";
    } else if constexpr (std::is_enum_v<T>) {
        return format_of<std::underlying_type_t<T>>();
    } else if constexpr (std::same_as<T, bool>) {
        return "?";
    } else if constexpr (std::is_arithmetic_v<T>) {
        return (std::is_floating_point_v<T> ? "f" : std::is_signed_v<T> ? "i" : "u") + std::to_string(sizeof(T));
    } else {
        return "";
    }
}

template <class T>
std::vector<usize> shape_of() {
    if constexpr (std::is_array_v<T>) {
        std::vector<usize> shape = shape_of<std::remove_extent_t<T>>();
        shape.insert(shape.begin(), std::extent_v<T>);
        return shape;
    } else {
        return {};
    }
}

template <class T, usize member>
constexpr std::string_view member_name() {
    constexpr auto pointer = &std::get<member>(members(held<T>.value));
    return last_identifier(pointer_text<Pointer{pointer}>());
}

template <class T, usize member>
FieldLayout describe_member(const T& sample) {
    const auto& value = std::get<member>(members(sample));
    using Member = std::remove_cvref_t<decltype(value)>;
    using Element = std::remove_cv_t<std::remove_all_extents_t<Member>>;
    FieldLayout field{std::string(member_name<T, member>()),
                      format_of<Element>(),
                      shape_of<Member>(),
                      static_cast<usize>(reinterpret_cast<const u8*>(&value) - reinterpret_cast<const u8*>(&sample)),
                      {}};
    if constexpr (std::is_class_v<Element>) field.inner.push_back(describe<Element>());
    return field;
}

template <class T>
StructLayout describe() {
    static_assert(std::is_aggregate_v<T> && std::is_standard_layout_v<T>);
    const T sample{};
    return [&]<usize... member>(std::index_sequence<member...>) {
        return StructLayout{sizeof(T), {describe_member<T, member>(sample)...}};
    }(std::make_index_sequence<member_count<T>()>{});
}

}  // namespace layout_detail

// Calls visit(name, member) for each member of a struct, in their order.
template <class T, class Visit>
void visit_members(T& value, const Visit& visit) {
    [&]<usize... member>(std::index_sequence<member...>) {
        (visit(layout_detail::member_name<T, member>(), std::get<member>(layout_detail::members(value))), ...);
    }(std::make_index_sequence<layout_detail::member_count<T>()>{});
}

// Makes the structs known to Python's `layout`, each by its name.
template <class... T>
void register_layouts() {
    (struct_layouts().emplace(layout_detail::last_identifier(layout_detail::type_text<T>()),
                              layout_detail::describe<T>()),
     ...);
}

// The same for a template's instance, which has a name of its own.
template <class T>
void register_layout(std::string name) {
    struct_layouts().emplace(std::move(name), layout_detail::describe<T>());
}

}  // namespace headrace
