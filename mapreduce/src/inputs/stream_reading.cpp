// SPDX-License-Identifier: Apache-2.0
#include "stream_reading.hpp"

#include <algorithm>
#include <cerrno>
#include <creek/core/error.hpp>
#include <creek/tasking/select.hpp>
#include <cstring>
#include <new>
#include <utility>

#include <creek/mapreduce/detail/csv_cuts.hpp>
#include <creek/mapreduce/inputs/find_bytes.hpp>
#include "record_size.hpp"

namespace creek::mapreduce::detail {
namespace {

constexpr std::size_t min_piece = 64, max_piece = std::size_t{1} << 19;
/// Text that a claim may expand to before its turn to join.
constexpr std::size_t max_expansion = max_block_text;

std::size_t whole_words(std::string_view text) {
  while (!text.empty() && !is_space(text.back())) text.remove_suffix(1);
  return text.size();
}

std::size_t whole_lines(std::string_view text) {
  return text.rfind('\n') + 1;  // npos + 1 is 0
}

}  // namespace

void stream_reading::buffers::grow(std::size_t used, std::size_t bytes) {
  if (capacity >= bytes) return;
  const std::size_t larger = std::max(bytes, 2 * capacity);
  auto moved = std::make_unique_for_overwrite<char[]>(room + larger);
  if (used != 0) std::memcpy(moved.get() + room, begin(), used);
  text = std::move(moved);
  capacity = larger;
}

stream_reading::stream_reading(plan chosen, const void* tag)
    : plan_(std::move(chosen)), tag_(tag), next_link_(std::make_shared<link>(1)) {
  plan_.piece = std::clamp(plan_.piece, min_piece, max_piece);
}

void stream_reading::open(open_file file) {
  file_.emplace(std::move(file));
  text_state state;
  if (const format* packed = file_->file_format()) state.codec = packed->open(file_->name());
  (void)next_link_->send(std::move(state));
  (void)turn_.send('\0');
}

void stream_reading::give_up() {
  over_.store(true);
  (void)turn_.send('\0');
}

bool stream_reading::enter() {
  const std::lock_guard lock(mutex_);
  if (over_.load() || workers_ == 0) return false;
  ++workers_;
  return true;
}

int stream_reading::workers() const {
  const std::lock_guard lock(mutex_);
  return over_.load() ? 0 : workers_;
}

void stream_reading::fail(std::uint64_t order, std::exception_ptr why) {
  over_.store(true);
  const std::lock_guard lock(mutex_);
  if (order >= failed_at_) return;
  failed_at_ = order;
  failure_ = std::move(why);
}

void stream_reading::work(const visitor& f) {
  auto mine = std::make_unique<buffers>();
  bool has_turn = false;
  for (claim made;;) {
    std::unique_ptr<buffers> joined;
    if (!has_turn) {
      select(on_receive(joined_, [&](auto item) { joined = std::move(*item); }),
             on_receive(turn_, [&](const auto&) { has_turn = true; }));
    }
    if (joined) {
      map(*joined, f);
      if (joined->capacity <= 4 * max_piece) (void)unused_.try_send(std::move(joined));
      continue;
    }
    const bool claimed = next(made, *mine);
    if (!claimed || !made.bytes.continues) {
      (void)turn_.send('\0');
      has_turn = false;
    }
    if (!claimed) break;
    join(made, *mine, f);
    if (has_turn && leave_to_others(mine)) continue;
    if (has_turn) (void)turn_.send('\0');
    has_turn = false;
    map(*mine, f);
  }
  while (auto item = joined_.try_receive()) map(**item, f);
  std::exception_ptr why;
  {
    const std::lock_guard lock(mutex_);
    if (--workers_ == 0) why = std::exchange(failure_, nullptr);
  }
  if (why) std::rethrow_exception(why);
}

/// Leaves the piece to other workers, if there are some and not too many pieces wait. The worker
/// then goes on with other memory. Whoever leaves a piece looks for waiting ones at its own end, so
/// none is lost.
bool stream_reading::leave_to_others(std::unique_ptr<buffers>& mine) {
  if (workers() < 2) return false;  // also if nothing is left to claim
  auto spare = unused_.try_receive();
  std::unique_ptr<buffers> other = spare ? std::move(*spare) : nullptr;
  if (!other) other.reset(new (std::nothrow) buffers);
  if (!other || !joined_.try_send(std::move(mine))) return false;
  mine = std::move(other);
  return true;
}

/// Claims the next bytes, by the worker that has the turn. Returns false if there are none, or if a
/// piece has failed.
bool stream_reading::next(claim& made, buffers& mine) {
  if (over_.load()) return false;
  std::exception_ptr why;
  try {
    made = claim{};
    made.number = claims_;
    auto to = std::make_shared<link>(1);
    if (file_->file_format() == nullptr) {
      mine.grow(0, plan_.piece);
      made.bytes = file_->claim_plain(mine.begin(), plan_.piece, made.text);
    } else {
      made.bytes = file_->claim_compressed(mine.raw, wanted_bytes());
    }
    made.from = std::exchange(next_link_, to);
    made.to = std::move(to);
    ++claims_;
    if (made.bytes.last) over_.store(true);
    return true;
  } catch (...) {
    why = std::current_exception();
  }
  fail(2 * claims_, std::move(why));
  return false;
}

std::size_t stream_reading::wanted_bytes() const {
  const double ratio = static_cast<double>(raw_bytes_.load(std::memory_order_relaxed)) /
                       static_cast<double>(text_bytes_.load(std::memory_order_relaxed));
  return std::clamp(static_cast<std::size_t>(static_cast<double>(plan_.piece) * ratio), min_piece,
                    max_piece);
}

/// Decompresses `raw` behind the first `size` bytes of text, up to a limit. Returns whether it is
/// done with all of `raw`, or with what comes before damage.
bool stream_reading::expand(decoder& codec, std::string_view& raw, buffers& mine, std::size_t& size,
                            bool last, std::exception_ptr& damage) {
  try {
    while (size < max_expansion) {
      if (size == mine.capacity || mine.capacity == 0) {
        mine.grow(size, std::max(2 * plan_.piece, 2 * size));
      }
      const std::size_t made = codec.decode(raw, mine.begin() + size, mine.capacity - size, last);
      size += made;
      if (made != 0) continue;
      if (!raw.empty())
        throw error(EIO, file_->name() + ": damaged " + file_->file_format()->name + " data");
      return true;
    }
    return false;
  } catch (...) {
    damage = std::current_exception();
    return true;
  }
}

void stream_reading::join(const claim& made, buffers& mine, const visitor& f) {
  const claimed_bytes& bytes = made.bytes;
  std::string_view raw = mine.raw;
  std::size_t size = made.text;
  std::exception_ptr damage, why;
  std::unique_ptr<decoder> own;
  bool done = true;
  if (bytes.begins_member || bytes.begins_block) {
    try {
      own = bytes.begins_block ? file_->file_format()->open_blocks(file_->name(), bytes.context)
                               : file_->file_format()->open(file_->name());
      done = expand(*own, raw, mine, size, bytes.last, damage);
    } catch (...) {
      damage = std::current_exception();
    }
  }
  mine.made = {};
  mine.order = 2 * made.number;  // damage comes after the faults in the text before it
  text_state state = std::move(*made.from->receive());
  if (state.failed) {
    (void)made.to->send(std::move(state));
    return;
  }
  piece& one = mine.made;
  std::size_t text = 0;
  try {
    const bool guessed = state.rest.empty() &&
                         ((bytes.begins_member && state.codec->at_border()) ||
                          (bytes.begins_block && done && state.codec->at_block(bytes.context)));
    if (guessed && own && bytes.begins_block) {
      state.codec->absorb(*own);
    } else if (guessed && own) {
      state.codec = std::move(own);
    } else if (!guessed && state.codec) {
      mine.raw.insert(0, std::exchange(state.rest, {}));
      raw = mine.raw;
      size = 0;
      damage = nullptr;
      done = expand(*state.codec, raw, mine, size, bytes.last, damage);
    }
    for (;;) {
      text += size;
      one = cut(state, mine, size, bytes.last && done && !damage);
      inspect(state, one);
      if (done || !bytes.last) break;
      map(one, f);  // the worker has nothing that another waits for
      size = 0;
      done = expand(*state.codec, raw, mine, size, bytes.last, damage);
    }
    if (!done) state.rest.assign(raw);
  } catch (...) {
    why = std::current_exception();
  }
  if (bytes.last && !why && !damage && plan_.lay_out) {
    try {
      check_size(plan_.name, *plan_.layout, state.offset);
    } catch (...) {
      damage = std::current_exception();
    }
  }
  raw_bytes_.fetch_add(mine.raw.size() - state.rest.size(), std::memory_order_relaxed);
  text_bytes_.fetch_add(text, std::memory_order_relaxed);
  if (why) one = {};
  state.failed = why || damage;
  if (why) fail(mine.order, std::move(why));
  if (damage) fail(mine.order + 1, std::move(damage));
  (void)made.to->send(std::move(state));
}

void stream_reading::map(buffers& mine, const visitor& f) {
  std::exception_ptr why;
  try {
    map(mine.made, f);
  } catch (...) {
    why = std::current_exception();
  }
  if (why) fail(mine.order, std::move(why));
}

/// Returns the bytes of whole records at the begin of a text whose first byte begins one or, if it
/// is no file of fixed records, is anywhere. `quoted`: it is in quotes, in a file of CSV records.
std::size_t stream_reading::whole_records(std::string_view text, bool quoted) const {
  if (plan_.lay_out) return text.size() / plan_.layout->stride * plan_.layout->stride;
  switch (plan_.units) {
    case text_units::lines:
      return whole_lines(text);
    case text_units::csv_records:
      return whole_csv_records(text, quoted);
    case text_units::words:
      break;
  }
  return whole_words(text);
}

/// Returns the tail and the first `size` bytes of text behind it, in one piece, and takes the tail.
std::string_view stream_reading::joined(text_state& state, buffers& mine, std::size_t size) const {
  const std::size_t before = state.tail.size();
  if (before <= buffers::room) {
    if (mine.capacity == 0) mine.grow(0, plan_.piece);
    char* const begin = mine.begin() - before;
    std::memcpy(begin, state.tail.data(), before);
    state.tail.clear();
    return {begin, before + size};
  }
  state.tail.append(mine.begin(), size);
  mine.joined = std::move(state.tail);
  state.tail.clear();
  return mine.joined;
}

/// Joins `size` bytes of text to the tail and cuts them after the last record. `last`: the file
/// ends here. A tail without the end of a record grows by doubling, and only new text is searched.
stream_reading::piece stream_reading::cut(text_state& state, buffers& mine, std::size_t size,
                                          bool last) {
  if (plan_.lay_out) return cut_records(state, mine, size, last);
  const std::string_view text(mine.begin(), size);
  const std::size_t whole = last ? size : whole_records(text, state.quoted);
  if (plan_.units == text_units::csv_records) {
    if (whole != 0) state.quoted = false;
    state.quoted ^= count_byte(text.substr(whole), '"') % 2 != 0;
  }
  if (whole == 0 && !last) {
    state.tail.append(text);
    return {};
  }
  piece made{.text = joined(state, mine, whole), .offset = state.offset, .lines = state.lines};
  state.tail.assign(text.substr(whole));
  state.offset += made.text.size();
  if (plan_.units != text_units::words) {
    state.lines += count_byte(made.text, '\n');
  }
  return made;
}

stream_reading::piece stream_reading::cut_records(text_state& state, buffers& mine,
                                                  std::size_t size, bool last) {
  const std::size_t enough = state.laid_out ? plan_.layout->stride : head_bytes;
  if (state.tail.size() + size < enough && !last) {
    state.tail.append(mine.begin(), size);
    return {};
  }
  std::string_view text = joined(state, mine, size);
  if (!std::exchange(state.laid_out, true)) plan_.lay_out(text.substr(0, head_bytes));
  const record_layout& layout = *plan_.layout;
  const auto skipped = static_cast<std::size_t>(
      std::min<std::uint64_t>(layout.begin - std::min(layout.begin, state.offset), text.size()));
  text.remove_prefix(skipped);
  state.offset += skipped;
  const std::size_t taken = last ? text.size() : whole_records(text);
  const auto used = static_cast<std::size_t>(
      std::min<std::uint64_t>(taken, layout.end - std::min(state.offset, layout.end)));
  piece made{.text = text.substr(0, whole_records(text.substr(0, used))), .offset = state.offset};
  state.offset += taken;
  state.tail.assign(text.substr(taken));
  if (reinterpret_cast<std::uintptr_t>(made.text.data()) % alignof(std::max_align_t) != 0) {
    std::string aligned(made.text);  // for records that are read in place
    mine.joined = std::move(aligned);
    made.text = mine.joined;
  }
  return made;
}

void stream_reading::inspect(text_state& state, const piece& one) {
  if (!plan_.inspect || state.inspected || one.text.empty()) return;
  state.inspected = plan_.inspect({one.text, false, {plan_.number, one.offset}}, one.lines);
}

/// Maps a piece, a large one in parts that fit into caches.
void stream_reading::map(const piece& one, const visitor& f) {
  std::string_view text = one.text;
  std::uint64_t lines = one.lines;
  while (!text.empty()) {
    std::size_t part = text.size();
    for (std::size_t most = max_piece; most <= text.size() / 4; most *= 2) {
      part = whole_records(text.substr(0, most));
      if (part != 0) break;
      part = text.size();
    }
    const auto begin = static_cast<std::uint64_t>(text.data() - one.text.data());
    f({text.substr(0, part), false, {plan_.number, one.offset + begin}}, lines);
    if (plan_.units != text_units::words && part != text.size()) {
      lines += count_byte(text.substr(0, part), '\n');
    }
    text.remove_prefix(part);
  }
}

}  // namespace creek::mapreduce::detail
