// SPDX-License-Identifier: Apache-2.0
// Matrix Market: text, one entry per line, of a full matrix (array) or a sparse one (coordinate).
// Source: [Boisvert 1996].
#pragma once

#include <creek/linalg/matrix_file.hpp>
#include <cstdint>
#include <functional>
#include <string_view>

#include "byte_source.hpp"

namespace creek::linalg::market {

/// First bytes of a file.
inline constexpr std::string_view magic = "%%MatrixMarket";

enum class layout { array, coordinate };
enum class field { real, integer, complex, pattern };
enum class symmetry { general, symmetric, skew_symmetric, hermitian };

struct head {
  market::layout layout = layout::array;
  market::field field = field::real;
  market::symmetry symmetry = symmetry::general;
  index_t rows = 0;
  index_t cols = 0;
  std::uint64_t entries = 0;  ///< entry lines that follow
};

head read_head(detail::byte_source& in);
matrix_file_info info_of(const head& what);

/// Returns the minimum number of bytes that follow this head in a file, without the last line's
/// end. Saturates.
std::uint64_t least_bytes(const head& what) noexcept;

/// Reads the entries into a zero matrix of the head's shape; throws if anything follows.
template <scalar T>
void read_entries(detail::byte_source& in, const head& what, matrix_view<T> to);

using writer = std::function<void(std::string_view)>;
template <scalar T>
void write(const writer& out, const_view<T> a);

}  // namespace creek::linalg::market
