// SPDX-License-Identifier: Apache-2.0
// Reads the files of an input.
#include <creek/mapreduce/inputs/files.hpp>

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <creek/core/error.hpp>
#include <creek/core/io/data_fault.hpp>
#include <creek/tasking/channel.hpp>
#include <optional>
#include <system_error>

#include "modified_at.hpp"
#include "record_size.hpp"
#include "stream_reading.hpp"

namespace creek::mapreduce {

/// Files that are read by several workers.
struct text_files::streams {
  channel<char> begun{1};     // an item wakes a helper that waits for a reading
  std::mutex mutex;           // guards what follows
  std::vector<reading> open;  // read by anybody at the moment
  std::vector<bool> visited;  // per file: its own visit has begun in this run
  std::size_t missing = 0;    // shared files without one
  int waits_in_vain = 0;      // of helpers for a visit, since one began
};

text_files::~text_files() = default;

text_files::text_files(const std::vector<std::string>& names, settings chosen) : settings_(chosen) {
  settings_.split = std::max<std::size_t>(settings_.split, 1);
  for (const std::string& name : names) add_named(name);
  if (!skipped_.empty() && !settings_.skip_unreadable) {
    std::string what = skipped_.front().first;
    if (skipped_.size() > 1) what += " (and " + std::to_string(skipped_.size() - 1) + " more)";
    throw error(skipped_.front().second, what);
  }
  plan();
}

/// Lists the pieces in the order in which they are handed out: first files that are read from begin
/// to end, the largest first, then splits of mapped files, then small files to fill the gaps, then
/// pieces for workers that help with the first ones.
void text_files::plan() {
  std::vector<std::uint32_t> alone;
  for (std::uint32_t i = 0; i < files_.size(); ++i) {
    if (files_[i].map.text().empty()) alone.push_back(i);
  }
  std::ranges::stable_sort(alone, std::greater{}, [&](std::uint32_t i) { return files_[i].size; });
  const auto small = std::ranges::find_if(alone, [&](std::uint32_t i) {
    return files_[i].size < settings_.split && !files_[i].stream;
  });
  for (auto it = alone.begin(); it != small; ++it) pieces_.push_back({*it, 0});
  for (std::uint32_t i = 0; i < files_.size(); ++i) {
    const std::size_t pieces = pieces_of(files_[i]);
    if (settings_.units == text_units::csv_records && pieces != 0) {
      files_[i].cuts = std::make_unique<detail::csv_cuts>(pieces);
    }
    for (std::size_t k = 0; k < pieces; ++k) {
      pieces_.push_back({i, static_cast<std::uint32_t>(k)});
    }
  }
  for (auto it = small; it != alone.end(); ++it) pieces_.push_back({*it, 0});
  std::size_t helpers = 0;
  streams_ = std::make_unique<streams>();
  streams_->visited.resize(files_.size());
  for (auto it = alone.begin(); it != small; ++it) {
    const file& shared = files_[*it];
    const std::uint64_t pieces = shared.stream ? max_helpers : shared.size / settings_.split;
    helpers = static_cast<std::size_t>(std::min<std::uint64_t>(helpers + pieces, max_helpers));
    ++streams_->missing;
  }
  pieces_.insert(pieces_.end(), helpers, {any_stream, 0});
}

void text_files::visit_piece(std::size_t i, const void* tag, const visitor& f) {
  const visitor placed = [&](const text_split& split) {
    try {
      f(split);
    } catch (const malformed_text& why) {
      fail_at(split, why);
    }
  };
  if (pieces_[i].file == any_stream) {
    if (tag != nullptr) help_with_streams(tag, placed);
    return;
  }
  file& from = files_[pieces_[i].file];
  if (from.map.text().empty()) {
    visit_stream(from, tag, placed);
  } else {
    visit_mapped(from, pieces_[i].index, placed);
  }
}

void text_files::fail_at(const text_split& split, const malformed_text& why) const {
  const char* const begin = split.text.data();
  const std::string place =
      settings_.units == text_units::words
          ? fmt::format(" byte {}",
                        split.from.offset + static_cast<std::uint64_t>(why.at() - begin))
          : std::to_string(line_of(split, why.at()));
  fail(data_fault::malformed, fmt::format("{}:{}: {}", name(split.from.file), place, why.reason()));
}

void detail::fail_in_line(std::size_t line, const malformed_text& why) {
  fail(data_fault::malformed, fmt::format("line {}: {}", line, why.reason()));
}

namespace {

/// Returns the bytes of the records in one piece.
std::size_t piece_bytes(const record_layout& layout, std::size_t split) {
  return std::max<std::size_t>(split / layout.stride, 1) * layout.stride;
}

}  // namespace

void detail::check_size(const std::string& name, const record_layout& layout, std::uint64_t size) {
  if (layout.end != record_layout::end_of_file) {
    if (size >= layout.end) return;
    fail(data_fault::truncated,
         fmt::format("{}: {} bytes, and its header announces {}", name, size, layout.end));
  }
  if (size >= layout.begin && (size - layout.begin) % layout.stride == 0) return;
  fail(data_fault::truncated,
       fmt::format("{}: ends within a record: {} bytes, records of {}", name, size, layout.stride));
}

std::size_t text_files::pieces_of(const file& from) const {
  const std::size_t bytes = from.map.text().size();
  if (!settings_.layout) return (bytes + settings_.split - 1) / settings_.split;
  if (bytes == 0) return 0;
  const std::size_t step = piece_bytes(from.layout, settings_.split);
  const std::uint64_t end = std::min<std::uint64_t>(from.layout.end, bytes);
  return static_cast<std::size_t>((end - from.layout.begin + step - 1) / step);
}

/// Returns piece `index` of a mapped file, in memory.
std::string_view text_files::piece_of(const file& from, std::size_t index) const {
  const std::string_view all = from.map.text();
  if (settings_.layout) {
    const std::size_t step = piece_bytes(from.layout, settings_.split);
    const auto end = static_cast<std::size_t>(std::min<std::uint64_t>(from.layout.end, all.size()));
    const std::size_t begin = static_cast<std::size_t>(from.layout.begin) + index * step;
    const std::string_view text = all.substr(begin, std::min(step, end - begin));
    from.map.populate(text);
    return text;
  }
  from.map.populate(all.substr(index * settings_.split, settings_.split));
  if (from.cuts) return from.cuts->cut(all, index, settings_.split);
  return settings_.units == text_units::lines ? cut(all, index, settings_.split, &is_line_end)
                                              : cut(all, index, settings_.split);
}

void text_files::visit_mapped(file& from, std::size_t index, const visitor& f) {
  const std::string_view all = from.map.text();
  const std::string_view text = piece_of(from, index);
  // The rest of the page after a file's new end reads as zeros without a signal; so the size is
  // checked. Another file that took over the name leaves the mapped one unchanged.
  const auto check_whole = [&] {
    struct stat now {};
    const bool same =
        stat(from.name.c_str(), &now) == 0 && now.st_dev == from.device && now.st_ino == from.inode;
    const auto size = static_cast<std::uint64_t>(now.st_size);
    if (from.map.lost() || (same && size < all.size()))
      throw error(EIO, from.name + ": became shorter while it was read");
    if (same && size == all.size() && modified_at(now) != from.modified)
      throw error(EIO, from.name + ": was overwritten while it was read");
  };
  try {
    if (!text.empty()) {
      f({text, true, {number_of(from), static_cast<std::uint64_t>(text.data() - all.data())}});
    }
  } catch (...) {
    check_whole();  // zeros of a missing page may be the cause
    throw;
  }
  check_whole();
}

text_files::reading text_files::reading_of(file& from, const void* tag) {
  detail::stream_reading::plan chosen;
  chosen.name = from.shown;
  chosen.number = number_of(from);
  chosen.units = settings_.units;
  chosen.piece = settings_.split;
  if (settings_.layout) {
    chosen.layout = &from.layout;
    chosen.lay_out = [this, &from](std::string_view head) {
      from.layout = settings_.layout(from.shown, head);
    };
  }
  if (settings_.inspect) {
    chosen.inspect = [this](const text_split& split, std::uint64_t lines) {
      return with_lines(split, lines, [&] { return settings_.inspect(split); });
    };
  }
  return std::make_shared<detail::stream_reading>(std::move(chosen), tag);
}

/// Reads a file as its first worker.
void text_files::visit_stream(file& from, const void* tag, const visitor& f) {
  const reading made = reading_of(from, tag);
  const bool shared = tag != nullptr && is_shared(from);
  if (shared) {
    const std::lock_guard lock(streams_->mutex);
    std::vector<bool>& visited = streams_->visited;
    if (visited[number_of(from)]) {  // in an earlier run
      visited.assign(visited.size(), false);
      streams_->missing = static_cast<std::size_t>(
          std::ranges::count_if(files_, [this](const file& one) { return is_shared(one); }));
    }
    visited[number_of(from)] = true;
    --streams_->missing;
    streams_->waits_in_vain = 0;
    streams_->open.push_back(made);
  }
  if (shared) (void)streams_->begun.try_send('\0');
  int unreadable = 0;
  std::exception_ptr why;
  try {
    if (from.stream) {
      made->open(open_file(from.name));
    } else {
      made->open(open_file(from.name, from.followed));
    }
  } catch (const error& e) {
    unreadable = e.code().value();
    why = std::current_exception();
  } catch (...) {
    why = std::current_exception();
  }
  if (why) made->give_up();
  if (!why) {
    try {
      read(*made, f);
    } catch (...) {
      why = std::current_exception();
    }
  }
  if (shared) {
    const std::lock_guard lock(streams_->mutex);
    std::erase(streams_->open, made);
  }
  if (unreadable != 0 && settings_.skip_unreadable) return leave_out(from.name, unreadable);
  if (why) std::rethrow_exception(why);
}

/// Reads what others read, until nothing is left to claim.
void text_files::help_with_streams(const void* tag, const visitor& f) {
  using namespace std::chrono_literals;
  // On ranks, the visits of other ranks never begin here.
  constexpr int max_waits_in_vain = 50;
  // Runs hand out the splits of files before this one, so their visits begin at once, if at all.
  for (int waits = 0; waits < 3; ++waits) {
    while (const reading one = reading_to_help(tag)) read(*one, f);
    {
      const std::lock_guard lock(streams_->mutex);
      if (streams_->missing == 0 || streams_->waits_in_vain >= max_waits_in_vain) return;
    }
    if (streams_->begun.receive_for(1ms)) {
      (void)streams_->begun.try_send('\0');
    } else {
      const std::lock_guard lock(streams_->mutex);
      ++streams_->waits_in_vain;
    }
  }
}

/// Enters the reading with the fewest workers. Returns null if there is none.
text_files::reading text_files::reading_to_help(const void* tag) {
  const std::lock_guard lock(streams_->mutex);
  for (;;) {
    reading best;
    int fewest = 0;
    for (const reading& one : streams_->open) {
      const int workers = one->tag() == tag ? one->workers() : 0;
      if (workers != 0 && (!best || workers < fewest)) {
        best = one;
        fewest = workers;
      }
    }
    if (!best || best->enter()) return best;
  }
}

void text_files::read(detail::stream_reading& from, const visitor& f) {
  from.work([&](const text_split& split, std::uint64_t lines) {
    with_lines(split, lines, [&] {
      f(split);
      return true;
    });
  });
}

/// Calls `f`, in which line_of() knows the number of lines before the split.
bool text_files::with_lines(const text_split& split, std::uint64_t lines, function_ref<bool()> f) {
  if (settings_.units == text_units::words) return f();
  struct entry {
    text_files* files;
    line_count count;
    entry(text_files* to, const line_count& added) : files(to), count(added) {
      const std::lock_guard lock(files->mutex_);
      files->line_counts_.push_back(count);
    }
    ~entry() {
      const std::lock_guard lock(files->mutex_);
      const auto same = [&](const line_count& one) { return one.from == count.from; };
      files->line_counts_.erase(std::ranges::find_if(files->line_counts_, same));
    }
  };
  const entry known(this, {split.from, lines});
  return f();
}

std::uint64_t text_files::line_of(const text_split& split, const char* at) const {
  const file& from = files_[split.from.file];
  const std::string_view all = from.map.text();
  const char* const begin = all.empty() ? split.text.data() : all.data();
  std::uint64_t lines = 1 + static_cast<std::uint64_t>(std::count(begin, at, '\n'));
  if (all.empty()) {
    const std::lock_guard lock(mutex_);
    for (const line_count& one : line_counts_) {
      if (one.from == split.from) return lines + one.lines;
    }
  }
  return lines;
}

void text_files::leave_out(const std::string& name, int why) {
  const std::lock_guard lock(mutex_);
  skipped_.emplace_back(name, why);
}

std::vector<std::string> text_files::skipped() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  for (const auto& [name, why] : skipped_) {
    lines.push_back(name + ": " + std::generic_category().message(why));
  }
  return lines;
}

}  // namespace creek::mapreduce
