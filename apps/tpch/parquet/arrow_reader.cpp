// SPDX-License-Identifier: Apache-2.0
// Reads Parquet files with Arrow's C++ library: the column readers of libparquet, which return
// values as the file has them and work in the calling thread. No other source of creek uses Arrow.
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/memory_pool.h>
#include <parquet/column_reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/schema.h>
#include <parquet/types.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "parquet_reader.hpp"

namespace creek::tpch {
namespace {

constexpr std::int64_t batch_rows = 8192;

bool is_signed_integer(const parquet::LogicalType& type) {
  if (type.is_none()) return true;
  return type.is_int() && static_cast<const parquet::IntLogicalType&>(type).is_signed();
}

/// Returns the kind of values for a column's physical and logical type.
parquet_values values_of(parquet::Type::type physical, const parquet::LogicalType& logical) {
  if (logical.is_decimal()) return parquet_values::decimals;
  switch (physical) {
    case parquet::Type::INT32:
      if (logical.is_date()) return parquet_values::dates;
      [[fallthrough]];
    case parquet::Type::INT64:
      return is_signed_integer(logical) ? parquet_values::integers : parquet_values::others;
    case parquet::Type::DOUBLE:
      return parquet_values::doubles;
    case parquet::Type::BYTE_ARRAY:
      return logical.is_none() || logical.is_string() || logical.is_enum() ? parquet_values::texts
                                                                           : parquet_values::others;
    default:
      return parquet_values::others;
  }
}

parquet_field field_of(const parquet::ColumnDescriptor& column) {
  const parquet::LogicalType& logical = *column.logical_type();
  parquet_field field;
  field.name = column.name();
  field.type = parquet::TypeToString(column.physical_type());
  if (!logical.is_none()) field.type += " " + logical.ToString();
  if (column.max_repetition_level() > 0) {
    field.type += " list";
    return field;
  }
  field.holds = values_of(column.physical_type(), logical);
  if (logical.is_decimal()) {
    field.scale = static_cast<const parquet::DecimalLogicalType&>(logical).scale();
  }
  return field;
}

/// Returns the number of a big-endian decimal. Throws if it needs more than 64 bits.
std::int64_t number_in(std::span<const std::uint8_t> bytes, std::size_t row) {
  constexpr std::size_t width = sizeof(std::int64_t);
  const std::uint8_t sign = !bytes.empty() && bytes[0] >= 0x80 ? 0xff : 0;
  for (; bytes.size() > width; bytes = bytes.subspan(1)) {
    if (bytes[0] != sign) throw parquet_fault(row, "does not fit 64 bits");
  }
  std::uint64_t number = sign == 0 ? 0 : ~std::uint64_t{0};
  for (const std::uint8_t byte : bytes) number = number << 8 | byte;
  if ((static_cast<std::int64_t>(number) < 0) != (sign != 0)) {
    throw parquet_fault(row, "does not fit 64 bits");
  }
  return static_cast<std::int64_t>(number);
}

/// Moves the values of one column of one row group in batches from Arrow's reader to the sink.
class hand_over {
 public:
  hand_over(const parquet::ColumnDescriptor& column, parquet_sink& sink)
      : decimal_(column.logical_type()->is_decimal()),
        length_(static_cast<std::size_t>(std::max(column.type_length(), 0))),
        sink_(sink) {}

  void operator()(std::span<const std::int64_t> values) { sink_.take_numbers(values); }
  void operator()(std::span<const double> values) { sink_.take_doubles(values); }
  void operator()(std::span<const std::int32_t> values) {
    numbers_.assign(values.begin(), values.end());
    sink_.take_numbers(numbers_);
  }
  void operator()(std::span<const parquet::ByteArray> values) {
    if (decimal_) {
      return take_bytes(
          values, [](const parquet::ByteArray& value) { return std::span(value.ptr, value.len); });
    }
    texts_.clear();
    for (const parquet::ByteArray& value : values) {
      texts_.emplace_back(reinterpret_cast<const char*>(value.ptr), value.len);
    }
    sink_.take_texts(texts_);
  }
  void operator()(std::span<const parquet::FixedLenByteArray> values) {
    take_bytes(values, [this](const parquet::FixedLenByteArray& value) {
      return std::span(value.ptr, length_);
    });
  }

  void skip(std::size_t rows) { rows_ += rows; }

 private:
  template <class T, class Bytes>
  void take_bytes(std::span<const T> values, Bytes&& bytes) {
    numbers_.clear();
    for (const T& value : values) {
      numbers_.push_back(number_in(bytes(value), rows_ + numbers_.size()));
    }
    sink_.take_numbers(numbers_);
  }

  bool decimal_;
  std::size_t length_;
  std::size_t rows_ = 0;  // handed over so far
  parquet_sink& sink_;
  std::vector<std::int64_t> numbers_;
  std::vector<std::string_view> texts_;
};

template <class Type>
void read_all(parquet::ColumnReader& of, std::size_t rows, parquet_sink& sink) {
  auto& reader = static_cast<parquet::TypedColumnReader<Type>&>(of);
  const parquet::ColumnDescriptor& column = *reader.descr();
  const std::int16_t present = column.max_definition_level();
  std::vector<std::int16_t> levels(present > 0 ? batch_rows : 0);
  std::vector<typename Type::c_type> values(batch_rows);
  hand_over take(column, sink);
  std::size_t before = 0;
  while (before < rows && reader.HasNext()) {
    std::int64_t count = 0;
    const auto seen = static_cast<std::size_t>(reader.ReadBatch(
        batch_rows, levels.empty() ? nullptr : levels.data(), nullptr, values.data(), &count));
    const auto end = levels.begin() + static_cast<std::ptrdiff_t>(levels.empty() ? 0 : seen);
    const auto null = std::find_if(levels.begin(), end, [&](auto l) { return l < present; });
    const bool whole = null == end;
    const std::size_t some = whole ? seen : static_cast<std::size_t>(null - levels.begin());
    if (seen == 0 || static_cast<std::size_t>(count) < some || seen > rows - before) break;
    take(std::span<const typename Type::c_type>(values).first(some));
    take.skip(some);
    before += seen;
    if (!whole) throw parquet_fault(before - seen + some, "is null");
  }
  if (before != rows) throw std::runtime_error("the column has not as many values as rows");
}

class arrow_reader final : public parquet_reader {
 public:
  explicit arrow_reader(std::string_view bytes)
      : file_(parquet::ParquetFileReader::Open(source_of(bytes), properties())),
        facts_(file_->metadata()) {
    const parquet::SchemaDescriptor& schema = *facts_->schema();
    for (int i = 0; i < schema.num_columns(); ++i) {
      if (schema.GetColumnRoot(i)->is_group()) continue;
      fields_.push_back(field_of(*schema.Column(i)));
      columns_.push_back(i);
    }
    for (int group = 0; group < facts_->num_row_groups(); ++group) {
      rows_.push_back(facts_->RowGroup(group)->num_rows());
      if (rows_.back() < 0) throw std::runtime_error("a row group has less than no rows");
    }
  }

  std::span<const parquet_field> fields() const override { return fields_; }
  std::size_t row_groups() const override { return rows_.size(); }
  std::size_t rows(std::size_t group) const override {
    return static_cast<std::size_t>(rows_[group]);
  }

  void read(std::size_t group, std::size_t field, parquet_sink& sink) const override {
    const auto reader = file_->RowGroup(static_cast<int>(group))->Column(columns_[field]);
    const std::size_t count = rows(group);
    switch (reader->type()) {
      case parquet::Type::INT32:
        return read_all<parquet::Int32Type>(*reader, count, sink);
      case parquet::Type::INT64:
        return read_all<parquet::Int64Type>(*reader, count, sink);
      case parquet::Type::DOUBLE:
        return read_all<parquet::DoubleType>(*reader, count, sink);
      case parquet::Type::BYTE_ARRAY:
        return read_all<parquet::ByteArrayType>(*reader, count, sink);
      case parquet::Type::FIXED_LEN_BYTE_ARRAY:
        return read_all<parquet::FLBAType>(*reader, count, sink);
      default:
        throw std::runtime_error("no column that can be read");
    }
  }

 private:
  static std::shared_ptr<arrow::io::RandomAccessFile> source_of(std::string_view bytes) {
    return std::make_shared<arrow::io::BufferReader>(
        std::make_shared<arrow::Buffer>(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                        static_cast<std::int64_t>(bytes.size())));
  }
  /// Returns properties that make Arrow use malloc, as creek does everywhere else.
  static parquet::ReaderProperties properties() {
    parquet::ReaderProperties chosen(arrow::system_memory_pool());
    chosen.set_page_checksum_verification(true);
    return chosen;
  }

  std::unique_ptr<parquet::ParquetFileReader> file_;
  std::shared_ptr<parquet::FileMetaData> facts_;
  std::vector<parquet_field> fields_;
  std::vector<int> columns_;  // column number of each field
  std::vector<std::int64_t> rows_;
};

}  // namespace
}  // namespace creek::tpch

extern "C" __attribute__((visibility("default"))) std::unique_ptr<creek::tpch::parquet_reader>
creek_open_parquet_1(std::string_view bytes) {
  return std::make_unique<creek::tpch::arrow_reader>(bytes);
}
