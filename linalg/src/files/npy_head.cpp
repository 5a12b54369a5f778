// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <stdexcept>
#include <vector>

#include "npy.hpp"

namespace creek::linalg::npy {
namespace {

using fault = matrix_file_fault;

// NumPy's own heads are below 1 KiB for any matrix; a length of gigabytes is not trusted.
constexpr std::uint64_t longest_head = 64 << 10;

/// Reads the dictionary's text after the magic, the version and the length.
std::string read_text(detail::byte_source& in, std::string& version) {
  const auto need = [&](void* to, std::size_t bytes) {
    if (in.read(to, bytes) < bytes) in.fail(fault::truncated, "ends inside its header");
  };
  std::array<unsigned char, 12> fixed{};
  need(fixed.data(), magic.size() + 2);
  const unsigned char major = fixed[6];
  version = fmt::format("{}.{}", major, fixed[7]);
  if (major < 1 || major > 3) {
    in.fail(fault::unsupported, fmt::format("version {} of .npy; 1 to 3 are supported", version));
  }
  const std::size_t width = major == 1 ? 2 : 4;
  need(fixed.data() + 8, width);
  std::uint64_t length = 0;
  for (std::size_t i = width; i-- > 0;) length = length << 8 | fixed[8 + i];
  if (length > longest_head) {
    in.fail(fault::malformed,
            fmt::format("a head of {} bytes, where a matrix has under 1000", length));
  }
  std::string text(length, ' ');
  need(text.data(), length);
  return text;
}

element parse_descr(const detail::byte_source& in, const std::string& descr) {
  std::string_view rest = descr;
  element type;
  if (rest.find_first_of("<>|=") == 0) {
    constexpr char other = std::endian::native == std::endian::little ? '>' : '<';
    type.swapped = rest.front() == other;
    rest.remove_prefix(1);
  }
  constexpr std::array known{"f4", "f8", "c8", "c16", "i1", "i2", "i4",
                             "i8", "u1", "u2", "u4",  "u8", "b1"};
  if (std::ranges::find(known, rest) == known.end()) {
    in.fail(fault::unsupported,
            fmt::format("elements of type {}; convert the array with astype('f8') or astype('c16')",
                        detail::quoted(descr)));
  }
  type.kind = rest.front();
  type.bytes = rest == "c16" ? 16 : static_cast<std::size_t>(rest[1] - '0');
  return type;
}

index_t dimension(const detail::byte_source& in, std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<index_t>::max())) {
    in.fail(fault::malformed, fmt::format("a dimension of {}, which cannot be addressed", value));
  }
  return static_cast<index_t>(value);
}

}  // namespace

head read_head(detail::byte_source& in) {
  head what;
  const std::string text = read_text(in, what.version);
  literal dictionary;
  try {
    dictionary = parse_literal(text);
  } catch (const std::invalid_argument& why) {
    in.fail(fault::malformed, std::string("its header: ") + why.what());
  }
  what.descr = dictionary.descr;
  what.type = parse_descr(in, dictionary.descr);
  what.by_columns = dictionary.fortran_order;
  const auto& shape = dictionary.shape;
  if (shape.size() > 2) {
    in.fail(fault::unsupported, fmt::format("an array of {} dimensions; save one matrix of it, "
                                            "with 1 or 2",
                                            shape.size()));
  }
  what.rows = shape.empty() ? 1 : dimension(in, shape[0]);
  what.cols = shape.size() < 2 ? 1 : dimension(in, shape[1]);
  return what;
}

matrix_file_info info_of(const head& what) {
  element_type type = element_type::d;
  if (what.type.kind == 'f' && what.type.bytes == 4) type = element_type::s;
  if (what.type.kind == 'c') type = what.type.bytes == 8 ? element_type::c : element_type::z;
  return {
      .format = matrix_format::npy,
      .type = type,
      .rows = what.rows,
      .cols = what.cols,
      .entries = static_cast<std::uint64_t>(what.rows) * static_cast<std::uint64_t>(what.cols),
      .description = fmt::format("NumPy {}, {}, by {}", what.version, detail::quoted(what.descr),
                                 what.by_columns ? "columns" : "rows")};
}

}  // namespace creek::linalg::npy
