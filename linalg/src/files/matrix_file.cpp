// SPDX-License-Identifier: Apache-2.0
// Opening of a matrix file, and the checks before memory is allocated for it.
#include <creek/linalg/matrix_file.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <creek/core/error.hpp>
#include <creek/core/io/data_fault.hpp>
#include <variant>

#include "byte_source.hpp"
#include "matrix_market.hpp"
#include "npy.hpp"

namespace creek::linalg {
namespace {

/// Returns the bytes of a matrix<T>, padded by < 3 cache lines per column; saturates.
std::uint64_t bytes_needed(index_t rows, index_t cols, std::size_t element) noexcept {
  std::uint64_t column = 0;
  std::uint64_t all = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(rows), element, &column) ||
      __builtin_add_overflow(column, 192, &column) ||
      __builtin_mul_overflow(column, static_cast<std::uint64_t>(cols), &all)) {
    return ~std::uint64_t{0};
  }
  return all;
}

void check_addressable(const detail::byte_source& in, const matrix_file_info& info) {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  if (bytes_needed(info.rows, std::max<index_t>(info.cols, 1), sizeof(std::complex<double>)) >
      most) {
    in.fail(matrix_file_fault::malformed,
            fmt::format("its head says {} x {}, which cannot be addressed", info.rows, info.cols));
  }
}

void check_length(const detail::byte_source& in, const matrix_file_info& info,
                  std::uint64_t least) {
  const auto there = in.remaining();
  if (!there || *there >= least) return;
  in.fail(matrix_file_fault::truncated,
          fmt::format("its head promises {} entries, at least {} bytes, and {} follow",
                      info.entries, least, *there));
}

[[noreturn]] void too_large(const std::string& name, const matrix_file_info& info,
                            std::uint64_t bytes, std::uint64_t limit) {
  constexpr double mega = 1e6;
  throw error(ENOMEM, fmt::format("{}: {} x {} elements need {:.1f} MB of memory, of {:.1f} MB",
                                  name, info.rows, info.cols, static_cast<double>(bytes) / mega,
                                  static_cast<double>(limit) / mega));
}

[[noreturn]] void unknown_format(const detail::byte_source& in, std::string_view start) {
  const char* advice = "neither NumPy's .npy nor Matrix Market";
  if (start.empty()) advice = "empty";
  if (start.starts_with("PK\x03\x04")) advice = "an archive (.npz?); unpack the .npy in it";
  if (start.starts_with("\x1f\x8b")) advice = "compressed; unpack it with gunzip";
  in.fail(matrix_file_fault::unsupported, advice);
}

}  // namespace

std::error_code make_error_code(matrix_file_fault fault) noexcept {
  static const fault_category category(
      "creek matrix file", {"not a valid matrix file", "the file is cut short",
                            "not a matrix that creek reads", "real elements were asked for"});
  return {static_cast<int>(fault), category};
}

std::size_t machine_memory() noexcept {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return ~std::size_t{0};
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page);
}

struct matrix_file::state {
  explicit state(const std::string& name) : in(name) {}

  detail::byte_source in;
  matrix_file_info info;
  std::variant<npy::head, market::head> head;
  bool taken = false;
};

matrix_file::matrix_file(const std::string& name) : state_(std::make_unique<state>(name)) {
  detail::byte_source& in = state_->in;
  const std::string_view start = in.peek(market::magic.size());
  std::uint64_t least = 0;
  if (start.starts_with(npy::magic)) {
    const npy::head what = npy::read_head(in);
    state_->info = npy::info_of(what);
    state_->head = what;
    check_addressable(in, state_->info);
    least = state_->info.entries * what.type.bytes;
  } else if (start == market::magic) {
    const market::head what = market::read_head(in);
    state_->info = market::info_of(what);
    state_->head = what;
    check_addressable(in, state_->info);
    least = market::least_bytes(what);
  } else {
    unknown_format(in, start);
  }
  check_length(in, state_->info, least);
}

matrix_file::matrix_file(matrix_file&&) noexcept = default;
matrix_file& matrix_file::operator=(matrix_file&&) noexcept = default;
matrix_file::~matrix_file() = default;

const matrix_file_info& matrix_file::info() const noexcept {
  return state_->info;
}

template <scalar T>
matrix<T> matrix_file::read(std::size_t max_bytes) {
  state& s = *state_;
  if (s.taken) throw usage_error("a matrix_file is read once; open the file again");
  const std::uint64_t bytes = bytes_needed(s.info.rows, s.info.cols, sizeof(T));
  if (bytes > max_bytes) too_large(s.in.name(), s.info, bytes, max_bytes);
  s.taken = true;
  matrix<T> result;
  try {
    result = matrix<T>(s.info.rows, s.info.cols);
  } catch (const std::bad_alloc&) {
    too_large(s.in.name(), s.info, bytes, max_bytes);
  }
  if (const auto* what = std::get_if<npy::head>(&s.head)) {
    npy::read_elements<T>(s.in, *what, result);
  } else {
    market::read_entries<T>(s.in, std::get<market::head>(s.head), result);
  }
  return result;
}

matrix_file_info inspect_matrix_file(const std::string& name) {
  return matrix_file(name).info();
}

template <scalar T>
matrix<T> read_matrix(const std::string& name, std::size_t max_bytes) {
  return matrix_file(name).read<T>(max_bytes);
}

#define CREEK_INSTANTIATE(letter, T)                 \
  template matrix<T> matrix_file::read(std::size_t); \
  template matrix<T> read_matrix(const std::string&, std::size_t);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
