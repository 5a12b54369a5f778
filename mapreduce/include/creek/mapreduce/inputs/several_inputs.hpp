// SPDX-License-Identifier: Apache-2.0
// Several inputs of one run, told apart by tags, with values of different types: for joins.
//
//     struct spending_by_name {
//       using key_type = std::string_view;
//       using value_type = one_of<person, payment>;
//       template <class Emit>
//       static void map(const tagged_split<person, text_split>& split, Emit& emit);
//       template <class Emit>
//       static void map(const tagged_split<payment, std::span<const record>>& split, Emit& emit);
//       static long reduce(std::string_view, const values<spending_by_name>& all) {
//         for (const payment& one : values_of<payment>(all)) ...
//       }
//     };
//     several_inputs both(tagged<person>(people), tagged<payment>(payments));
//     auto spending = run(spending_by_name{}, both);
#pragma once

#include <concepts>
#include <creek/mapreduce/detail/key_views.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/tables/values.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <variant>

namespace creek::mapreduce {

namespace detail {

template <class... Types>
inline constexpr bool all_differ = true;
template <class First, class... Rest>
inline constexpr bool all_differ<First, Rest...> =
    !(std::same_as<First, Rest> || ...) && all_differ<Rest...>;

template <class... Types>
struct checked_variant {
  static_assert(all_differ<Types...>,
                "one_of needs types that differ: put equal ones into structs of their own");
  using type = std::variant<Types...>;
};

template <class T, class Value>
inline constexpr bool is_alternative = false;
template <class T, class... Types>
inline constexpr bool is_alternative<T, std::variant<Types...>> = (std::same_as<T, Types> || ...);

}  // namespace detail

/// The value_type of a job that emits values of each of these types.
template <class... Types>
using one_of = typename detail::checked_variant<Types...>::type;

/// Split of an input with a tag, by which a job's map() is overloaded. Like the split itself, which
/// it converts to: a job that does not tell its inputs apart maps the split.
template <class Tag, class Split>
struct tagged_split : Split {
  static_assert(std::is_class_v<Split>, "only inputs whose splits are classes can have tags");
  using tag_type = Tag;

  explicit tagged_split(const Split& split) : Split(split) {}
};

/// Input that gives the splits of another one, which must outlive it, with a tag.
template <class Tag, class Input>
class tagged_input {
 public:
  using tag_type = Tag;

  explicit tagged_input(Input& from) noexcept : from_(&from) {}

  [[nodiscard]] std::size_t splits() const { return from_->splits(); }
  [[nodiscard]] std::uint64_t bytes() const { return from_->bytes(); }
  /// Calls `f(tagged_split<Tag, Split>)`.
  template <class F>
  void visit(std::size_t i, F&& f) const {
    from_->visit(i, [&f]<class Split>(const Split& split) { f(tagged_split<Tag, Split>(split)); });
  }
  template <class F>
  void visit_alone(std::size_t i, F&& f) const {
    detail::visit_alone(
        *from_, i, [&f]<class Split>(const Split& split) { f(tagged_split<Tag, Split>(split)); });
  }

 private:
  Input* from_;
};

/// Returns the input with a tag, which is any type: for instance that of the values emitted for it.
template <class Tag, class Input>
[[nodiscard]] tagged_input<Tag, Input> tagged(Input& from) noexcept {
  static_assert(input<Input>,
                "tagged<Tag>(input) needs an input, with splits(), bytes() and visit(i, f)");
  return tagged_input<Tag, Input>(from);
}

namespace detail {

template <class I>
inline constexpr bool is_tagged_input = false;
template <class Tag, class Input>
inline constexpr bool is_tagged_input<tagged_input<Tag, Input>> = true;

template <class... Inputs>
struct tagged_inputs {
  static_assert((is_tagged_input<Inputs> && ...),
                "several_inputs takes inputs with tags: several_inputs(tagged<Tag>(input), ...)");
  static constexpr bool met = (is_tagged_input<Inputs> && ...);
};
template <class... Tags, class... Inputs>
struct tagged_inputs<tagged_input<Tags, Inputs>...> {
  static_assert(all_differ<Tags...>, "several_inputs needs a different tag for each input");
  static constexpr bool met = true;
};

}  // namespace detail

/// All splits of several inputs, those of the first one first.
template <class... Inputs>
class several_inputs {
  static_assert(detail::tagged_inputs<Inputs...>::met);

 public:
  explicit several_inputs(Inputs... inputs) noexcept : inputs_(inputs...) {}

  [[nodiscard]] std::size_t splits() const {
    return std::apply([](const auto&... one) { return (std::size_t{0} + ... + one.splits()); },
                      inputs_);
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return std::apply([](const auto&... one) { return (std::uint64_t{0} + ... + one.bytes()); },
                      inputs_);
  }
  template <class F>
  void visit(std::size_t i, F&& f) const {
    with_input(i, [&f](const auto& one, std::size_t k) { one.visit(k, f); });
  }
  template <class F>
  void visit_alone(std::size_t i, F&& f) const {
    with_input(i, [&f](const auto& one, std::size_t k) { one.visit_alone(k, f); });
  }

 private:
  /// Calls `use(input, k)` with the input of split i, and the split's number in it.
  template <class Use>
  void with_input(std::size_t i, const Use& use) const {
    const auto use_here = [&](const auto& one) {
      const std::size_t size = one.splits();
      if (i < size) {
        use(one, i);
        return true;
      }
      i -= size;
      return false;
    };
    std::apply([&](const auto&... one) { (void)(use_here(one) || ...); }, inputs_);
  }

  std::tuple<Inputs...> inputs_;
};

/// The values of type T among those of a key, in no particular order; nothing is copied. Iterating
/// passes over the values of all types, so let the inner one of two nested loops be over the type
/// with more values.
template <class T, class List>
class values_of_type {
 public:
  class iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using reference = const T&;
    using iterator_category = std::forward_iterator_tag;
    using pointer = const T*;

    iterator() = default;
    iterator(typename List::iterator at, typename List::iterator end) : at_(at), end_(end) {
      skip();
    }
    reference operator*() const { return *std::get_if<T>(&*at_); }
    pointer operator->() const { return std::get_if<T>(&*at_); }
    iterator& operator++() {
      ++at_;
      skip();
      return *this;
    }
    iterator operator++(int) {
      iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(const iterator& a, const iterator& b) { return a.at_ == b.at_; }

   private:
    void skip() {
      while (at_ != end_ && !std::holds_alternative<T>(*at_)) ++at_;
    }

    typename List::iterator at_, end_;
  };

  explicit values_of_type(const List& all) : begin_(all.begin(), all.end()), end_(all.end()) {}

  [[nodiscard]] iterator begin() const { return begin_; }
  [[nodiscard]] iterator end() const { return {end_, end_}; }
  [[nodiscard]] bool empty() const { return begin_ == end(); }
  /// Returns the first value of a range that is not empty.
  [[nodiscard]] const T& front() const { return *begin_; }

 private:
  iterator begin_;
  typename List::iterator end_;
};

/// Returns the values of type T that reduce() got. Valid as long as they are.
template <class T, class Key, class Value>
[[nodiscard]] auto values_of(const value_list<Key, Value>& all) {
  static_assert(detail::is_alternative<T, Value>,
                "values_of<T>(all) needs a job whose value_type is one_of<...> with T among them");
  return values_of_type<T, value_list<Key, Value>>(all);
}

}  // namespace creek::mapreduce
