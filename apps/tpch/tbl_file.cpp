// SPDX-License-Identifier: Apache-2.0
#include "tbl_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <creek/core/error.hpp>
#include <creek/mapreduce/mapped_file.hpp>
#include <creek/mapreduce/open_file.hpp>
#include <memory>
#include <optional>

#include "assemble.hpp"
#include "data_fault.hpp"
#include "in_order.hpp"
#include "tbl_piece.hpp"

namespace creek::tpch {
namespace {

file_stamp stamp_of(const mapreduce::open_file& file) {
  struct stat facts {};
  if (fstat(file.descriptor(), &facts) != 0) throw error(errno, file.name());
  if (S_ISDIR(facts.st_mode)) throw error(EISDIR, file.name());
  if (!S_ISREG(facts.st_mode)) throw error(ENOTSUP, file.name() + ": not a regular file");
  return {static_cast<std::uint64_t>(facts.st_size),
          facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

/// A file, mapped. One that is empty, as a part of a small table may be, has no text.
struct tbl_text {
  explicit tbl_text(const std::string& file) : name(file) {
    const mapreduce::open_file source(file);
    stamp = stamp_of(source);
    if (stamp.bytes > 0) map = mapreduce::mapped_file(source, stamp.bytes);
  }

  void check_whole() const {
    if (map.lost()) throw error(EIO, name + ": became shorter while it was read");
  }

  std::string name;
  file_stamp stamp;
  mapreduce::mapped_file map;
};

/// Some records of a file.
struct tbl_records {
  const tbl_text* file = nullptr;
  std::string_view text;
};

/// Pieces of about `bytes` bytes that begin after a line end.
void cut(const tbl_text& file, std::size_t bytes, std::vector<tbl_records>& pieces) {
  std::string_view text = file.map.text();
  while (!text.empty()) {
    const auto line_end =
        text.size() <= bytes ? std::string_view::npos : text.find('\n', bytes - 1);
    const auto size = line_end == std::string_view::npos ? text.size() : line_end + 1;
    pieces.push_back({&file, text.substr(0, size)});
    text.remove_prefix(size);
  }
}

/// The pieces of a table being read by several tasks.
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

  /// All pieces, or those up to the first fault.
  void run() {
    in_order(records_.size(), [this] {
      auto reader = std::make_unique<piece_reader>(schema_, wanted_);
      return [this, reader = std::move(reader)](std::size_t i) { read(*reader, i); };
    });
  }

  /// Throws for the fault nearest to the front: the same one however the work was divided.
  void check() const {
    const std::size_t first = first_bad_.load(std::memory_order_relaxed);
    if (first == records_.size()) return;
    const tbl_text& file = *records_[first].file;
    const auto line = 1 + std::count(file.map.text().data(), faults_[first]->at, '\n');
    fail(data_fault::malformed, fmt::format("{}:{}: {}", file.name, line, faults_[first]->what));
  }

  [[nodiscard]] std::vector<table_piece> take() { return std::move(pieces_); }

 private:
  void read(piece_reader& reader, std::size_t i) {
    if (i > first_bad_.load(std::memory_order_relaxed)) return;
    const auto& [file, text] = records_[i];
    file->map.populate(text);
    const auto before = static_cast<std::size_t>(text.data() - file->map.text().data());
    if ((faults_[i] = reader.read(text, before))) {
      std::size_t first = first_bad_.load(std::memory_order_relaxed);
      while (i < first && !first_bad_.compare_exchange_weak(first, i, std::memory_order_relaxed)) {
      }
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
  std::atomic<std::size_t> first_bad_;  // pieces before it are always read
};

}  // namespace

loaded_table load_tbl(const std::vector<std::string>& files, const table_schema& schema,
                      const std::vector<bool>& wanted, std::size_t piece_bytes) {
  const std::vector<tbl_text> texts(files.begin(), files.end());
  const auto check_whole = [&] {
    for (const tbl_text& text : texts) text.check_whole();
  };
  std::vector<file_stamp> stamps;
  std::vector<tbl_records> records;
  for (const tbl_text& text : texts) {
    stamps.push_back(text.stamp);
    cut(text, piece_bytes, records);
  }
  if (records.empty()) {
    fail(data_fault::malformed,
         files[0] + (files.size() == 1 ? ": the file is empty" : ": all files of it are empty"));
  }

  reading read(schema, wanted, std::move(records));
  read.run();
  check_whole();  // first: the zeros of a missing page are a fault that the file does not have
  read.check();
  table content = assemble(schema, wanted, read.take());
  check_whole();
  return {std::move(content), std::move(stamps)};
}

}  // namespace creek::tpch
