// SPDX-License-Identifier: Apache-2.0
#include "parquet_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <creek/core/error.hpp>
#include <memory>
#include <numeric>
#include <optional>

#include "parquet_column.hpp"
#include "parquet_module.hpp"
#include "tpch/loading/assemble.hpp"
#include "tpch/loading/data_fault.hpp"
#include "tpch/loading/earliest.hpp"
#include "tpch/loading/in_order.hpp"

namespace creek::tpch {
namespace {

/// Puts a library's message on one line.
std::string on_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  while (text.ends_with(' ') || text.ends_with('.')) text.pop_back();
  return text;
}

std::string column_text(const table_schema& schema, std::size_t index) {
  return fmt::format("column {} ({})", index + 1, schema.columns[index].name);
}

/// An open file of a table, with the columns of the schema found in it.
class parquet_table_file {
 public:
  parquet_table_file(const std::string& name, const table_schema& schema) : file_(name) {
    try {
      reader_ = open_parquet(name, file_.bytes());
    } catch (const error&) {
      throw;
    } catch (const std::exception& e) {
      file_.check_unchanged();
      fail(data_fault::foreign, fmt::format("{}: {}", name, on_one_line(e.what())));
    }
    for (std::size_t i = 0; i < schema.columns.size(); ++i) fields_.push_back(find(schema, i));
  }

  [[nodiscard]] const source_file& file() const noexcept { return file_; }
  [[nodiscard]] const parquet_reader& reader() const noexcept { return *reader_; }
  /// Returns the field of a column of the schema.
  [[nodiscard]] std::size_t field_of(std::size_t column) const { return fields_[column]; }

 private:
  std::size_t find(const table_schema& schema, std::size_t index) const {
    const column_schema& wanted = schema.columns[index];
    const auto refuse = [&](const std::string& why) {
      fail(data_fault::foreign,
           fmt::format("{}: {}: {}", file_.name(), column_text(schema, index), why));
    };
    const auto fields = reader_->fields();
    const auto same = [&](const parquet_field& field) {
      return std::ranges::equal(field.name, wanted.name, {}, [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      });
    };
    const auto found = std::ranges::find_if(fields, same);
    if (found == fields.end()) refuse("is missing");
    if (std::find_if(found + 1, fields.end(), same) != fields.end()) refuse("occurs twice");
    const std::string_view expected = other_than(wanted.holds, found->holds);
    if (!expected.empty()) {
      refuse(fmt::format("is of the type {}, not {}", on_one_line(found->type), expected));
    }
    return static_cast<std::size_t>(found - fields.begin());
  }

  source_file file_;
  std::unique_ptr<parquet_reader> reader_;
  std::vector<std::size_t> fields_;
};

/// A row group that is not empty.
struct row_group {
  const parquet_table_file* file = nullptr;
  std::size_t number = 0;
};

/// Reading of the columns of a table's row groups by several tasks: unit i is column i % columns of
/// row group i / columns.
class parquet_reading {
 public:
  parquet_reading(const table_schema& schema, std::vector<std::size_t> columns,
                  std::vector<row_group> groups)
      : schema_(schema),
        columns_(std::move(columns)),
        groups_(std::move(groups)),
        pieces_(groups_.size()),
        faults_(units()),
        first_bad_(units()) {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      pieces_[i].rows = groups_[i].file->reader().rows(groups_[i].number);
      pieces_[i].columns.resize(columns_.size());
    }
  }

  /// Reads all units, or those up to the first fault.
  void run() {
    in_order(units(), [this] { return [this](std::size_t unit) { read(unit); }; });
  }

  /// Throws for the first fault, which is the same however the work was divided.
  void check() const {
    if (first_bad_.get() != units()) fail(data_fault::foreign, faults_[first_bad_.get()]);
  }

  [[nodiscard]] std::vector<table_piece> take() { return std::move(pieces_); }

 private:
  [[nodiscard]] std::size_t units() const noexcept { return groups_.size() * columns_.size(); }

  void read(std::size_t unit) {
    if (unit > first_bad_.get()) return;
    const row_group& from = groups_[unit / columns_.size()];
    const std::size_t index = columns_[unit % columns_.size()];
    const auto report = [&](const std::string& row, const std::exception& e) {
      faults_[unit] =
          fmt::format("{}: row group {}{}: {}: {}", from.file->file().name(), from.number + 1, row,
                      column_text(schema_, index), on_one_line(e.what()));
      first_bad_.report(unit);
    };
    try {
      const std::size_t field = from.file->field_of(index);
      parquet_column column(schema_.columns[index], from.file->reader().fields()[field]);
      from.file->reader().read(from.number, field, column);
      pieces_[unit / columns_.size()].columns[unit % columns_.size()] = column.finish();
    } catch (const parquet_fault& fault) {
      report(fmt::format(", row {}", fault.row + 1), fault);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& e) {
      report("", e);
    }
  }

  const table_schema& schema_;
  std::vector<std::size_t> columns_;  // column numbers in the schema
  std::vector<row_group> groups_;
  std::vector<table_piece> pieces_;
  std::vector<std::string> faults_;
  earliest first_bad_;
};

}  // namespace

loaded_table load_parquet(const std::vector<std::string>& names, const table_schema& schema,
                          const std::vector<bool>& wanted, table_share share) {
  std::vector<std::unique_ptr<const parquet_table_file>> files;
  std::vector<row_group> groups;
  std::vector<file_stamp> stamps;
  for (const std::string& name : names) {
    files.push_back(std::make_unique<const parquet_table_file>(name, schema));
    stamps.push_back(files.back()->file().stamp());
    const parquet_reader& reader = files.back()->reader();
    for (std::size_t i = 0; i < reader.row_groups(); ++i) {
      if (reader.rows(i) > 0) groups.push_back({files.back().get(), i});
    }
  }
  if (groups.empty()) fail(data_fault::foreign, names[0] + ": the table has no rows");
  const table_share::range own = share.of(groups.size());
  groups = {groups.begin() + static_cast<std::ptrdiff_t>(own.begin),
            groups.begin() + static_cast<std::ptrdiff_t>(own.end)};
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) columns.push_back(i);
  }
  const auto check_unchanged = [&] {
    for (const auto& file : files) file->file().check_unchanged();
  };

  parquet_reading read(schema, std::move(columns), std::move(groups));
  read.run();
  check_unchanged();  // first: the zeros of a missing page are a fault that the file does not have
  read.check();
  return {assemble(schema, wanted, read.take()), std::move(stamps)};
}

}  // namespace creek::tpch
