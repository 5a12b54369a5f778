// SPDX-License-Identifier: Apache-2.0
#include "tbl_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "assemble.hpp"
#include "data_fault.hpp"
#include "earliest.hpp"
#include "in_order.hpp"
#include "tbl_piece.hpp"

namespace creek::tpch {
namespace {

/// Some records of a file.
struct tbl_records {
  const source_file* file = nullptr;
  std::string_view text;
};

/// Returns where the first record begins that begins at `at` or after it.
std::size_t record_at(std::string_view text, std::uint64_t at) {
  if (at == 0 || at >= text.size()) return std::min<std::uint64_t>(at, text.size());
  const auto line_end = text.find('\n', at - 1);
  return line_end == std::string_view::npos ? text.size() : line_end + 1;
}

/// Cuts the records of a file that begin in the range into pieces of about `bytes` bytes.
void cut(const source_file& file, table_share::range range, std::size_t bytes,
         std::vector<tbl_records>& pieces) {
  const std::size_t begin = record_at(file.bytes(), range.begin);
  std::string_view text = file.bytes().substr(begin, record_at(file.bytes(), range.end) - begin);
  while (!text.empty()) {
    const auto line_end =
        text.size() <= bytes ? std::string_view::npos : text.find('\n', bytes - 1);
    const auto size = line_end == std::string_view::npos ? text.size() : line_end + 1;
    pieces.push_back({&file, text.substr(0, size)});
    text.remove_prefix(size);
  }
}

/// Reading of the pieces of a table by several tasks.
class reading {
 public:
  reading(const table_schema& schema, const std::vector<bool>& wanted,
          std::vector<tbl_records> records)
      : schema_(schema),
        wanted_(wanted),
        records_(std::move(records)),
        pieces_(records_.size()),
        faults_(records_.size()),
        first_bad_(records_.size()) {}

  /// Reads all pieces, or those up to the first fault.
  void run() {
    in_order(records_.size(), [this] {
      auto reader = std::make_unique<piece_reader>(schema_, wanted_);
      return [this, reader = std::move(reader)](std::size_t i) { read(*reader, i); };
    });
  }

  /// Throws for the fault nearest to the front, the same however the work was divided.
  void check() const {
    const std::size_t first = first_bad_.get();
    if (first == records_.size()) return;
    const source_file& file = *records_[first].file;
    const auto line = 1 + std::count(file.bytes().data(), faults_[first]->at, '\n');
    fail(data_fault::malformed, fmt::format("{}:{}: {}", file.name(), line, faults_[first]->what));
  }

  [[nodiscard]] std::vector<table_piece> take() { return std::move(pieces_); }

 private:
  void read(piece_reader& reader, std::size_t i) {
    if (i > first_bad_.get()) return;
    const auto& [file, text] = records_[i];
    file->populate(text);
    const auto before = static_cast<std::size_t>(text.data() - file->bytes().data());
    if ((faults_[i] = reader.read(text, before))) {
      first_bad_.report(i);
      return;
    }
    pieces_[i].rows = reader.rows();
    pieces_[i].columns = reader.take();
  }

  const table_schema& schema_;
  const std::vector<bool>& wanted_;
  std::vector<tbl_records> records_;
  std::vector<table_piece> pieces_;
  std::vector<std::optional<record_fault>> faults_;
  earliest first_bad_;
};

}  // namespace

loaded_table load_tbl(const std::vector<std::string>& files, const table_schema& schema,
                      const std::vector<bool>& wanted, std::size_t piece_bytes, table_share share) {
  const std::vector<source_file> texts(files.begin(), files.end());
  const auto check_unchanged = [&] {
    for (const source_file& text : texts) text.check_unchanged();
  };
  std::vector<file_stamp> stamps;
  std::uint64_t bytes = 0;
  for (const source_file& text : texts) {
    stamps.push_back(text.stamp());
    bytes += text.bytes().size();
  }
  if (bytes == 0) {
    fail(data_fault::malformed,
         files[0] + (files.size() == 1 ? ": the file is empty" : ": all files of it are empty"));
  }

  const table_share::range wanted_bytes = share.of(bytes);
  std::vector<tbl_records> records;
  for (std::uint64_t before = 0; const source_file& text : texts) {
    const auto within = [&](std::uint64_t at) {
      return std::clamp<std::uint64_t>(at, before, before + text.bytes().size()) - before;
    };
    cut(text, {within(wanted_bytes.begin), within(wanted_bytes.end)}, piece_bytes, records);
    before += text.bytes().size();
  }

  reading read(schema, wanted, std::move(records));
  read.run();
  check_unchanged();  // first: the zeros of a missing page are a fault that the file does not have
  read.check();
  table content = assemble(schema, wanted, read.take());
  check_unchanged();
  return {std::move(content), std::move(stamps)};
}

}  // namespace creek::tpch
