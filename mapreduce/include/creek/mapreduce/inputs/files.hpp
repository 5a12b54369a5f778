// SPDX-License-Identifier: Apache-2.0
// Files and directories as the input of a run.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <creek/core/function_ref.hpp>
#include <creek/core/io/mapped_file.hpp>
#include <creek/core/io/open_file.hpp>
#include <creek/mapreduce/input.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

struct stat;

namespace creek::mapreduce {

namespace detail {
class stream_reading;

/// Its address tells the visits of one job and input from those of others.
template <class F>
inline char visit_tag = 0;
}  // namespace detail

/// Records of a fixed size in a file: `used` bytes each, `stride` apart, from byte `begin` to byte
/// `end`. Bytes after `end` are ignored; without `end`, records reach to the end of the file.
struct record_layout {
  static constexpr std::uint64_t end_of_file = ~std::uint64_t{0};

  std::uint64_t begin = 0;
  std::uint64_t end = end_of_file;
  std::size_t stride = 1;
  std::size_t used = 1;
};

/// Text of files. A directory means the regular files below it; links and special files found there
/// are skipped (so there are no loops and no file is read twice). Links named explicitly are
/// followed; pipes and character devices named explicitly are read as streams; "-" is standard
/// input. Large plain files are mapped and cut into splits. Streams and files in gzip, zstd, xz,
/// bzip2 or lz4 (known by their first bytes) are read from begin to end, by all workers that have
/// no other split: one reads or decompresses while others map, and members or frames that follow
/// each other are decompressed at the same time. Small files are read by one worker each. Other
/// compressed files and archives are errors. Bytes after a gzip member that begin no other are
/// ignored, as gunzip ignores them.
///
/// Must outlive the use of a result, whose keys may be views into mapped files. The constructor
/// finds the files, in one thread; several threads may call `visit` at once, for one run at a time.
class text_files {
 public:
  using split_type = text_split;

  struct settings {
    /// Skips files that cannot be opened and lists them in `skipped()`; otherwise an error.
    bool skip_unreadable = false;
    /// Bytes per split, and the minimum size of files that are mapped or read by several workers.
    std::size_t split = std::size_t{1} << 20;
    text_units units = text_units::words;
    /// For files of fixed records, which are cut between records instead: returns a file's layout
    /// from its name and its first bytes (4096 or all there are). May throw. Called by the
    /// constructor for files that are mapped, else by `visit`, for several files at once.
    std::function<record_layout(const std::string& name, std::string_view head)> layout = {};
    /// Called with the pieces of a file that is not mapped, in the order of its text and each
    /// before `f` of visit() gets it, until it returns true. May throw, but not wait. Several files
    /// at once.
    std::function<bool(const text_split&)> inspect = {};
  };

  /// Throws creek::error naming the first missing or unreadable file and the number of others.
  explicit text_files(const std::vector<std::string>& names) : text_files(names, settings{}) {}
  text_files(const std::vector<std::string>& names, settings chosen);
  text_files(const text_files&) = delete;
  text_files& operator=(const text_files&) = delete;
  ~text_files();

  [[nodiscard]] std::size_t splits() const noexcept { return pieces_.size(); }
  /// Returns whether visits share no work: there are no streams, and no large compressed files.
  [[nodiscard]] bool splits_may_move() const noexcept {
    return std::ranges::none_of(files_, [this](const file& one) { return is_shared(one); });
  }
  /// Returns the bytes of the files on disk; streams count as 0.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Returns the bytes of the mappings; pages read so far count in the resident memory.
  [[nodiscard]] std::uint64_t mapped_bytes() const noexcept { return mapped_bytes_; }
  /// Returns the bytes visited so far, after decompression.
  [[nodiscard]] std::uint64_t visited_bytes() const noexcept {
    return visited_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t size() const noexcept { return files_.size(); }

  /// Throws creek::error if the file cannot be read to its end, has damaged compressed data, was
  /// truncated or overwritten since construction or, with a layout, ends within a record or before
  /// the last one, and "FILE:LINE: what is wrong" (for units of words "FILE: byte N: ...") if `f`
  /// throws malformed_text. A file that has grown is read to its old size or beyond. The pieces of
  /// a stream or compressed file go to the visit of its split and to those of the last splits, in
  /// no order; all of them to the first, in order, if there are no other visits meanwhile.
  template <class F>
  void visit(std::size_t i, F&& f) {
    visit_piece(i, &detail::visit_tag<std::remove_cvref_t<F>>, counting(f));
  }
  /// Does the same, but the visit of its split gets all pieces of a stream or compressed file, in
  /// order.
  template <class F>
  void visit_alone(std::size_t i, F&& f) {
    visit_piece(i, nullptr, counting(f));
  }

  [[nodiscard]] const std::string& name(std::uint32_t number) const { return files_[number].shown; }
  /// Returns the layout of a split's file. To be called within `f` of visit().
  [[nodiscard]] const record_layout& layout(const text_split& split) const {
    return files_[split.from.file].layout;
  }
  /// Returns all text of a file if it is mapped, else an empty view.
  [[nodiscard]] std::string_view mapped(std::uint32_t number) const {
    return files_[number].map.text();
  }
  /// Returns the 1-based number of the line that contains byte `at` of a split. For units of lines
  /// and of CSV records, within `f` of visit() or settings::inspect. Counts the lines before.
  [[nodiscard]] std::uint64_t line_of(const text_split& split, const char* at) const;

  /// Returns "NAME: why" per skipped file, in no order. Complete after the run.
  [[nodiscard]] std::vector<std::string> skipped() const;

 private:
  struct file {
    std::string name;
    std::uint64_t size = 0;
    dev_t device = 0;
    ino_t inode = 0;
    std::int64_t modified = 0;  // nanoseconds since 1970
    symbolic_links followed = symbolic_links::follow;
    bool stream = false;  // standard input, pipe or device: size unknown
    mapped_file map{};    // empty: read sequentially
    record_layout layout{};
    std::string shown = name == "-" ? "standard input" : name;  // name in messages
    std::unique_ptr<detail::csv_cuts> cuts{};                   // of a mapped file of CSV records
  };
  struct piece {
    std::uint32_t file;
    std::uint32_t index;
  };
  static constexpr std::uint32_t any_stream = ~std::uint32_t{0};  // instead of a file: help with it
  static constexpr std::size_t max_helpers = 255;
  using visitor = std::function<void(const text_split&)>;
  using reading = std::shared_ptr<detail::stream_reading>;
  struct line_count {
    origin from;
    std::uint64_t lines;
  };
  struct streams;

  template <class F>
  visitor counting(F& f) {
    return [this, &f](const text_split& split) {
      f(split);
      visited_.fetch_add(split.text.size(), std::memory_order_relaxed);
    };
  }
  [[noreturn]] void fail_at(const text_split& split, const malformed_text& why) const;
  void visit_piece(std::size_t i, const void* tag, const visitor& f);
  void visit_mapped(file& from, std::size_t index, const visitor& f);
  void visit_stream(file& from, const void* tag, const visitor& f);
  void help_with_streams(const void* tag, const visitor& f);
  [[nodiscard]] reading reading_to_help(const void* tag);
  [[nodiscard]] reading reading_of(file& from, const void* tag);
  void read(detail::stream_reading& from, const visitor& f);
  bool with_lines(const text_split& split, std::uint64_t lines, function_ref<bool()> f);
  [[nodiscard]] bool is_shared(const file& one) const {
    return one.map.text().empty() && (one.stream || one.size >= settings_.split);
  }
  [[nodiscard]] std::string_view piece_of(const file& from, std::size_t index) const;
  [[nodiscard]] std::size_t pieces_of(const file& from) const;
  [[nodiscard]] std::uint32_t number_of(const file& one) const {
    return static_cast<std::uint32_t>(&one - files_.data());
  }
  void add_named(const std::string& name);
  void add_tree(std::string folder);
  void add_regular(const std::string& name, const struct stat& facts, symbolic_links followed);
  bool try_map(file& to);
  void plan();
  void leave_out(const std::string& name, int why);

  settings settings_;
  std::vector<file> files_;
  std::vector<piece> pieces_;
  std::uint64_t bytes_ = 0;
  std::uint64_t mapped_bytes_ = 0;
  std::atomic<std::uint64_t> visited_{0};
  std::unique_ptr<streams> streams_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::pair<std::string, int>> skipped_;
  std::vector<line_count> line_counts_;  // of pieces of streams that are being mapped
};

}  // namespace creek::mapreduce
