// SPDX-License-Identifier: Apache-2.0
// Interface of the loader to a Parquet file. The reader behind it, the only source that sees Arrow,
// is a module of its own (parquet/), loaded when the first Parquet table is asked for: creek starts
// without Arrow and runs where it is missing. Nothing here needs a symbol of creek.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace creek::tpch {

/// Kinds of values in a column of a Parquet file, as far as they can be a column of TPC-H.
enum class parquet_values : unsigned char { integers, decimals, doubles, dates, texts, others };

struct parquet_field {
  std::string name;
  parquet_values holds = parquet_values::others;
  int scale = 0;     ///< digits after the point, of decimals
  std::string type;  ///< name in Parquet, for messages
};

/// A value that is refused.
struct parquet_fault : std::runtime_error {
  parquet_fault(std::size_t at, const std::string& why) : std::runtime_error(why), row(at) {}
  std::size_t row;  ///< row in the row group, from 0
};

/// Receives the values of a column in the order of the rows, some at a time. An exception thrown
/// here ends the reading and is passed on.
class parquet_sink {
 public:
  /// Takes integers, decimals without their point, or dates in days since 1970-01-01.
  virtual void take_numbers(std::span<const std::int64_t> values) = 0;
  virtual void take_doubles(std::span<const double> values) = 0;
  /// Takes texts, which are only valid during the call.
  virtual void take_texts(std::span<const std::string_view> values) = 0;

 protected:
  ~parquet_sink() = default;
};

/// A Parquet file in memory. Several threads may use it at the same time.
class parquet_reader {
 public:
  virtual ~parquet_reader() = default;

  /// Returns the columns that are neither nested nor lists, in the order of the file.
  [[nodiscard]] virtual std::span<const parquet_field> fields() const = 0;
  [[nodiscard]] virtual std::size_t row_groups() const = 0;
  [[nodiscard]] virtual std::size_t rows(std::size_t group) const = 0;

  /// Passes all values of a field that is not `others` to `sink`. Throws parquet_fault for a null
  /// and for a decimal beyond 64 bits, another std::exception if the file is damaged.
  virtual void read(std::size_t group, std::size_t field, parquet_sink& sink) const = 0;
};

/// The only function of the module. `bytes` must outlive the reader. Throws a std::exception if
/// they are no Parquet file. Its name changes with this header, so another version is not found.
using open_parquet_function = std::unique_ptr<parquet_reader>(std::string_view bytes);
inline constexpr const char* open_parquet_name = "creek_open_parquet_1";

}  // namespace creek::tpch
