// SPDX-License-Identifier: Apache-2.0
// One file that is read from its begin to its end, by any number of workers.
#pragma once

#include <atomic>
#include <creek/core/io/open_file.hpp>
#include <creek/mapreduce/inputs/files.hpp>
#include <creek/tasking/channel.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "claim_reader.hpp"
#include "decoder.hpp"

namespace creek::mapreduce::detail {

/// Reads a file in pieces that cut no record. Each piece takes three steps:
///
///   claim    read the next bytes of the file. One worker at a time, the one that has the turn.
///   join     decompress them and cut the text after its last record. In the order of the claims:
///            each waits for the predecessor's text_state and sends its own to the successor.
///   map      without waiting for anybody.
///
/// The worker that has the turn keeps it while others map the pieces that it has joined:
/// decompression goes on without a change of workers. If four pieces wait, it passes the turn on
/// and maps its own.
///
/// A claim that seems to begin with a member of the compressed file is decompressed before its
/// predecessor has joined, and others claim meanwhile. The text counts if the predecessor's bytes
/// end with a whole member; otherwise they are decompressed again, by the predecessor's decoder. So
/// a wrong guess costs time only.
///
/// README.md says why no worker waits forever.
class stream_reading {
 public:
  /// A piece and the number of lines before it (not for units of words).
  using visitor = std::function<void(const text_split&, std::uint64_t lines)>;
  struct plan {
    std::string name;  // for messages
    std::uint32_t number = 0;
    text_units units = text_units::words;
    std::size_t piece = 0;                               // bytes of text to aim at
    std::function<void(std::string_view head)> lay_out;  // sets `layout`; empty: text
    const record_layout* layout = nullptr;
    std::function<bool(const text_split&, std::uint64_t lines)> inspect;
  };

  stream_reading(plan chosen, const void* tag);
  stream_reading(const stream_reading&) = delete;
  stream_reading& operator=(const stream_reading&) = delete;

  /// The first worker, which has entered: opens the file before others can claim. Throws
  /// creek::error; then nobody reads it.
  void open(open_file file);
  void give_up();

  /// Returns false if nothing is left to claim. Whoever enters calls work().
  [[nodiscard]] bool enter();
  /// Reads and maps pieces until none is left. The last worker that leaves throws the failure of
  /// the first piece of the file that failed.
  void work(const visitor& f);

  [[nodiscard]] int workers() const;
  [[nodiscard]] const void* tag() const noexcept { return tag_; }

 private:
  /// The knowledge of all pieces before that joining a piece needs.
  struct text_state {
    std::unique_ptr<decoder> codec;  // null for a plain file
    std::string rest;                // bytes that are claimed and not decompressed
    std::string tail;                // the begin of a record
    bool quoted = false;             // the tail ends in quotes (CSV records only)
    std::uint64_t offset = 0;        // of the tail
    std::uint64_t lines = 0;         // before the tail
    bool laid_out = false;
    bool inspected = false;
    bool failed = false;
  };
  using link = channel<text_state, spsc>;

  struct piece {
    std::string_view text;
    std::uint64_t offset = 0;
    std::uint64_t lines = 0;
  };

  /// Memory for a claim and the piece that it becomes.
  struct buffers {
    std::string raw;
    std::unique_ptr<char[]> text;  // `room` bytes for the tail, then text
    std::size_t capacity = 0;
    std::string joined;
    piece made;
    std::uint64_t order = 0;  // of the piece's faults among all faults of the file

    [[nodiscard]] char* begin() const { return text.get() + room; }
    void grow(std::size_t used, std::size_t bytes);
    static constexpr std::size_t room = std::size_t{1} << 16;
  };
  struct claim {
    std::uint64_t number = 0;
    claimed_bytes bytes;   // in buffers::raw, or of a plain file in buffers::text
    std::size_t text = 0;  // their number in a plain file
    std::shared_ptr<link> from, to;
  };

  bool next(claim& made, buffers& mine);
  [[nodiscard]] std::size_t wanted_bytes() const;

  void join(const claim& made, buffers& mine, const visitor& f);
  bool expand(decoder& codec, std::string_view& raw, buffers& mine, std::size_t& size, bool last,
              std::exception_ptr& damage);
  [[nodiscard]] piece cut(text_state& state, buffers& mine, std::size_t size, bool last);
  [[nodiscard]] piece cut_records(text_state& state, buffers& mine, std::size_t size, bool last);
  [[nodiscard]] std::string_view joined(text_state& state, buffers& mine, std::size_t size) const;
  [[nodiscard]] std::size_t whole_records(std::string_view text, bool quoted = false) const;
  void inspect(text_state& state, const piece& one);
  void map(const piece& one, const visitor& f);
  void map(buffers& mine, const visitor& f);
  [[nodiscard]] bool leave_to_others(std::unique_ptr<buffers>& mine);
  void fail(std::uint64_t order, std::exception_ptr why);

  plan plan_;
  const void* tag_;

  channel<std::unique_ptr<buffers>> joined_{4};  // pieces that anybody may map
  channel<std::unique_ptr<buffers>> unused_{4};  // memory to use again
  channel<char> turn_{1};  // holds an item unless a worker claims; what follows is that worker's
  std::optional<claim_reader> file_;
  std::uint64_t claims_ = 0;
  std::shared_ptr<link> next_link_;

  std::atomic<bool> over_{false};                            // nothing more is to be claimed
  std::atomic<std::uint64_t> raw_bytes_{1}, text_bytes_{4};  // so far, for their ratio

  mutable std::mutex mutex_;  // guards what follows
  int workers_ = 1;
  std::uint64_t failed_at_ = ~std::uint64_t{0};
  std::exception_ptr failure_;
};

}  // namespace creek::mapreduce::detail
