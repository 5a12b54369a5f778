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

/// Pieces of about `bytes` bytes that begin after a line end.
std::vector<std::string_view> cut(std::string_view text, std::size_t bytes) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const auto line_end =
        text.size() <= bytes ? std::string_view::npos : text.find('\n', bytes - 1);
    const auto size = line_end == std::string_view::npos ? text.size() : line_end + 1;
    pieces.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return pieces;
}

/// The pieces of a file being read by several tasks.
class reading {
 public:
  reading(const table_schema& schema, const std::vector<bool>& wanted,
          const mapreduce::mapped_file& map, std::size_t piece_bytes)
      : schema_(schema),
        wanted_(wanted),
        map_(map),
        texts_(cut(map.text(), piece_bytes)),
        pieces_(texts_.size()),
        faults_(texts_.size()),
        first_bad_(texts_.size()) {}

  /// All pieces, or those up to the first fault.
  void run() {
    in_order(texts_.size(), [this] {
      auto reader = std::make_unique<piece_reader>(schema_, wanted_);
      return [this, reader = std::move(reader)](std::size_t i) { read(*reader, i); };
    });
  }

  /// The fault nearest to the front of the file: the same one however the work was divided.
  [[nodiscard]] const record_fault* fault() const {
    const std::size_t first = first_bad_.load(std::memory_order_relaxed);
    return first == texts_.size() ? nullptr : &*faults_[first];
  }

  [[nodiscard]] std::vector<table_piece> take() { return std::move(pieces_); }

 private:
  void read(piece_reader& reader, std::size_t i) {
    if (i > first_bad_.load(std::memory_order_relaxed)) return;
    map_.populate(texts_[i]);
    const auto before = static_cast<std::size_t>(texts_[i].data() - map_.text().data());
    if ((faults_[i] = reader.read(texts_[i], before))) {
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
  const mapreduce::mapped_file& map_;
  std::vector<std::string_view> texts_;
  std::vector<table_piece> pieces_;
  std::vector<std::optional<record_fault>> faults_;
  std::atomic<std::size_t> first_bad_;  // pieces before it are always read
};

}  // namespace

loaded_table load_tbl(const std::string& file, const table_schema& schema,
                      const std::vector<bool>& wanted, std::size_t piece_bytes) {
  const mapreduce::open_file source(file);
  const file_stamp stamp = stamp_of(source);
  if (stamp.bytes == 0) fail(data_fault::malformed, file + ": the file is empty");
  const mapreduce::mapped_file map(source, stamp.bytes);
  const auto check_whole = [&] {
    if (map.lost()) throw error(EIO, file + ": became shorter while it was read");
  };

  reading read(schema, wanted, map, piece_bytes);
  read.run();
  check_whole();  // first: the zeros of a missing page are a fault that the file does not have
  if (const record_fault* fault = read.fault()) {
    const auto line = 1 + std::count(map.text().data(), fault->at, '\n');
    fail(data_fault::malformed, fmt::format("{}:{}: {}", file, line, fault->what));
  }
  table content = assemble(schema, wanted, read.take());
  check_whole();
  return {std::move(content), stamp};
}

}  // namespace creek::tpch
