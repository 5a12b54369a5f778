// SPDX-License-Identifier: Apache-2.0
// transform in parallel, of one range and of two, by the standard library's name.
#pragma once

#include <algorithm>

#include <creek/tasking/detail/projected_call.hpp>
#include <creek/tasking/parallel_for.hpp>

namespace creek {

namespace detail {

struct transform_function {
  template <std::random_access_iterator I, std::sized_sentinel_for<I> S,
            std::random_access_iterator O, operation F, operation Proj = std::identity>
  std::ranges::unary_transform_result<I, O> operator()(I first, S last, O out, F f, Proj proj = {},
                                                       const parallel_options& options = {}) const {
    static_assert(requirements<O, F, projected_t<Proj, I>>::met);
    const auto count = last - first;
    parallel_for_range(
        position{0}, static_cast<position>(count),
        [&](position lo, position hi) {
          projected_call<F, Proj> call{f, proj};
          const I end = cursor_at(first, hi);
          O to = cursor_at(out, lo);
          for (I from = cursor_at(first, lo); from != end; ++from, ++to) *to = call(*from);
        },
        options);
    return {first + count, out + static_cast<std::iter_difference_t<O>>(count)};
  }
  template <std::random_access_iterator I, std::sized_sentinel_for<I> S,
            std::random_access_iterator O, operation F>
  std::ranges::unary_transform_result<I, O> operator()(I first, S last, O out, F f,
                                                       const parallel_options& options) const {
    return (*this)(first, last, out, std::move(f), std::identity{}, options);
  }
  template <parallel_range R, std::random_access_iterator O, operation F,
            operation Proj = std::identity>
  std::ranges::unary_transform_result<std::ranges::borrowed_iterator_t<R>, O> operator()(
      R&& range, O out, F f, Proj proj = {}, const parallel_options& options = {}) const {
    return (*this)(std::ranges::begin(range), end_of(range), out, std::move(f), std::move(proj),
                   options);
  }
  template <parallel_range R, std::random_access_iterator O, operation F>
  std::ranges::unary_transform_result<std::ranges::borrowed_iterator_t<R>, O> operator()(
      R&& range, O out, F f, const parallel_options& options) const {
    return (*this)(range, out, std::move(f), std::identity{}, options);
  }

  template <std::random_access_iterator I1, std::sized_sentinel_for<I1> S1,
            std::random_access_iterator I2, std::sized_sentinel_for<I2> S2,
            std::random_access_iterator O, operation F, operation Proj1 = std::identity,
            operation Proj2 = std::identity>
  std::ranges::binary_transform_result<I1, I2, O> operator()(
      I1 first1, S1 last1, I2 first2, S2 last2, O out, F f, Proj1 proj1 = {}, Proj2 proj2 = {},
      const parallel_options& options = {}) const {
    static_assert(requirements<O, F, projected_t<Proj1, I1>, projected_t<Proj2, I2>>::met);
    const position count =
        std::min(static_cast<position>(last1 - first1), static_cast<position>(last2 - first2));
    parallel_for_range(
        position{0}, count,
        [&](position lo, position hi) {
          projected_pair_call<F, Proj1, Proj2> call{f, proj1, proj2};
          const I1 end = cursor_at(first1, hi);
          I2 other = cursor_at(first2, lo);
          O to = cursor_at(out, lo);
          for (I1 from = cursor_at(first1, lo); from != end; ++from, ++other, ++to) {
            *to = call(*from, *other);
          }
        },
        options);
    return {cursor_at(first1, count), cursor_at(first2, count), cursor_at(out, count)};
  }
  template <std::random_access_iterator I1, std::sized_sentinel_for<I1> S1,
            std::random_access_iterator I2, std::sized_sentinel_for<I2> S2,
            std::random_access_iterator O, operation F>
  std::ranges::binary_transform_result<I1, I2, O> operator()(
      I1 first1, S1 last1, I2 first2, S2 last2, O out, F f, const parallel_options& options) const {
    return (*this)(first1, last1, first2, last2, out, std::move(f), std::identity{},
                   std::identity{}, options);
  }
  template <parallel_range R1, parallel_range R2, std::random_access_iterator O, operation F,
            operation Proj1 = std::identity, operation Proj2 = std::identity>
  std::ranges::binary_transform_result<std::ranges::borrowed_iterator_t<R1>,
                                       std::ranges::borrowed_iterator_t<R2>, O>
  operator()(R1&& range1, R2&& range2, O out, F f, Proj1 proj1 = {}, Proj2 proj2 = {},
             const parallel_options& options = {}) const {
    return (*this)(std::ranges::begin(range1), end_of(range1), std::ranges::begin(range2),
                   end_of(range2), out, std::move(f), std::move(proj1), std::move(proj2), options);
  }
  template <parallel_range R1, parallel_range R2, std::random_access_iterator O, operation F>
  std::ranges::binary_transform_result<std::ranges::borrowed_iterator_t<R1>,
                                       std::ranges::borrowed_iterator_t<R2>, O>
  operator()(R1&& range1, R2&& range2, O out, F f, const parallel_options& options) const {
    return (*this)(range1, range2, out, std::move(f), std::identity{}, std::identity{}, options);
  }

 private:
  template <class O, class F, class... Arguments>
  struct requirements {
    static_assert(std::invocable<F&, Arguments...>,
                  "transform calls f(proj(element)), or f(proj1(a), proj2(b)) for two ranges");
    static_assert(std::indirectly_writable<O, std::invoke_result_t<F&, Arguments...>>,
                  "transform writes to `out` what f returns: `out` must accept it");
    static constexpr bool met = true;
  };
};

}  // namespace detail

/// transform(first, last, out, f, proj = {}, options = {}) writes f(proj(x)) for each element, and
/// transform(first1, last1, first2, last2, out, f, proj1 = {}, proj2 = {}, options = {}) writes
/// f(proj1(a), proj2(b)) for the elements of two ranges, as many as the shorter one has. Each pair
/// of iterators may be a range instead; projections may be left out before `options`. `out` is a
/// random-access iterator with room for all results and may equal the start of an input; otherwise
/// it overlaps none. Returns the ends of the inputs and of the output, as std::ranges::transform
/// does. `f` is called in any order, from several workers at once. After an exception or a stop
/// results are missing. Threads, chunks, errors, cost: as parallel_for.
inline constexpr detail::transform_function transform{};

}  // namespace creek
