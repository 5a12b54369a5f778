// SPDX-License-Identifier: Apache-2.0
#include "stream_reading.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <creek/core/error.hpp>
#include <creek/tasking/select.hpp>
#include <cstring>
#include <new>
#include <utility>

#include <creek/mapreduce/detail/csv_cuts.hpp>
#include "record_size.hpp"

namespace creek::mapreduce::detail {
namespace {

constexpr std::size_t min_piece = 64, max_piece = std::size_t{1} << 19;
/// Compressed bytes that are searched for the end of a member. A longer member is decompressed by
/// one worker after the other.
constexpr std::size_t max_member = std::size_t{4} << 20;
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
  constexpr int pipe_bytes = 1 << 20;  // the largest that any user may ask for by default: pipe(7)
  (void)fcntl(file_->descriptor(), F_SETPIPE_SZ, pipe_bytes);  // fewer switches to the writer
  first_.resize(magic_bytes);
  std::size_t n = 0;
  while (n < first_.size()) {
    const std::size_t got = file_->read(first_.data() + n, first_.size() - n);
    if (got == 0) break;
    n += got;
  }
  first_.resize(n);
  format_ = format_of(first_);
  text_state state;
  if (format_ != nullptr) {
    if (format_->open == nullptr) {
      throw error(ENOTSUP,
                  file_->name() + ": " + format_->name + " data, which has to be unpacked first");
    }
    state.codec = format_->open(file_->name());
  }
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
    if (!claimed || !made.keeps_turn) {
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
    if (format_ == nullptr) {
      read_plain(made, mine);
    } else {
      read_compressed(made, mine);
    }
    made.keeps_turn =
        !made.last && (format_ == nullptr || !(made.begins_member || at_member_ || at_block_));
    made.from = std::exchange(next_link_, to);
    made.to = std::move(to);
    ++claims_;
    if (made.last) over_.store(true);
    return true;
  } catch (...) {
    why = std::current_exception();
  }
  fail(2 * claims_, std::move(why));
  return false;
}

std::size_t stream_reading::read(char* to, std::size_t bytes) {
  const std::size_t n = std::min(bytes, first_.size());
  std::memcpy(to, first_.data(), n);
  first_.erase(0, n);
  std::size_t end = n;
  while (end < bytes && !at_end_) {
    const std::size_t got = file_->read(to + end, bytes - end);
    at_end_ = got == 0;
    end += got;
  }
  return end;
}

void stream_reading::read_plain(claim& made, buffers& mine) {
  mine.grow(0, plan_.piece);
  made.text = read(mine.begin(), plan_.piece);
  made.last = at_end_;
}

void stream_reading::fill_ahead(std::size_t bytes) {
  const std::size_t here = ahead_.size() - ahead_begin_;
  if (here >= bytes || at_end_) return;
  if (ahead_begin_ >= here) {
    ahead_.erase(0, ahead_begin_);
    ahead_begin_ = 0;
  }
  const std::size_t end = ahead_.size();
  ahead_.resize(end + bytes - here);
  ahead_.resize(end + read(ahead_.data() + end, bytes - here));
}

void stream_reading::read_compressed(claim& made, buffers& mine) {
  bool at_member = false;
  made.context = context_;
  std::size_t bytes = end_of_blocks(at_member);
  const bool blocks = bytes != 0;
  if (!blocks) bytes = end_of_claim(at_member);
  const std::string_view here = std::string_view(ahead_).substr(ahead_begin_);
  mine.raw.assign(here.substr(0, bytes));
  made.begins_member = at_member_ && made.number != 0;
  made.begins_block = at_block_ && blocks;
  at_block_ = blocks && !at_member;
  made.last = at_end_ && bytes == here.size();
  ahead_begin_ += bytes;
  searched_ -= std::min(searched_, bytes);
  at_member_ = at_member;
}

/// Returns the bytes of whole blocks ahead, and those of the member's header before them; 0 if the
/// sizes of blocks are unknown, or if the member is so short that several are to be claimed. Stores
/// whether the member ends with these blocks.
std::size_t stream_reading::end_of_blocks(bool& at_member) {
  if (format_->next_block == nullptr || !(at_member_ || at_block_)) return 0;
  const std::size_t wanted = wanted_bytes();
  for (std::size_t bytes = 0;;) {
    const std::string_view here = std::string_view(ahead_).substr(ahead_begin_ + bytes);
    const block_ahead next = format_->next_block(here, at_member_ && bytes == 0, context_);
    if (next.bytes == 0) return bytes;
    if (next.bytes > here.size()) {
      const std::size_t seen = bytes + here.size();
      fill_ahead(bytes + next.bytes);
      if (ahead_.size() - ahead_begin_ == seen) return bytes;  // the file ends
      continue;
    }
    bytes += next.bytes;
    if (next.ends_member) {
      if (at_member_ && bytes < wanted) return 0;
      fill_ahead(bytes + magic_bytes);  // whether the file ends here, too
      at_member = true;
      return bytes;
    }
    if (bytes >= wanted) return bytes;
  }
}

std::size_t stream_reading::wanted_bytes() const {
  const double ratio = static_cast<double>(raw_bytes_.load(std::memory_order_relaxed)) /
                       static_cast<double>(text_bytes_.load(std::memory_order_relaxed));
  return std::clamp(static_cast<std::size_t>(static_cast<double>(plan_.piece) * ratio), min_piece,
                    max_piece);
}

/// Returns how many of the bytes ahead are claimed, and stores whether what follows may be a
/// member. A claim ends before a member if one begins within the wanted bytes or, for a claim that
/// begins with one, within the longest member.
std::size_t stream_reading::end_of_claim(bool& at_member) {
  const std::size_t wanted = wanted_bytes();
  for (std::size_t most = wanted;; most = std::min(2 * most, max_member)) {
    fill_ahead(most + magic_bytes);
    const std::string_view here = std::string_view(ahead_).substr(ahead_begin_);
    std::size_t last = 0;
    for (std::size_t p; (p = next_member(here, most)) != here.npos && (p <= wanted || last == 0);) {
      last = p;
      searched_ = p + 1;
      if (p > wanted) break;
    }
    if (last != 0 && (last <= wanted || at_member_)) {
      searched_ = last;
      at_member = true;
      return last;
    }
    if (last != 0) searched_ = last;  // of a later claim
    const bool all_seen = at_end_ && here.size() <= most;
    if (!at_member_ || last != 0 || all_seen || most == max_member) {
      const bool whole = at_member_ && all_seen;
      return whole ? here.size() : std::min(wanted, here.size());
    }
  }
}

/// Returns where the next member seems to begin, from `searched_` and 1 on up to `most`, or npos.
std::size_t stream_reading::next_member(std::string_view here, std::size_t most) {
  const std::size_t seen = at_end_ ? here.size() : here.size() - std::min(here.size(), magic_bytes);
  const std::size_t end = std::min(seen, most + 1);
  for (std::size_t p = std::max<std::size_t>(searched_, 1); p < end; ++p) {
    p = here.find(format_->magic, p);
    if (p >= end) break;  // also npos
    if (format_->begins_member(here.substr(p))) return p;
  }
  searched_ = std::max(searched_, end);
  return here.npos;
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
      if (!raw.empty()) throw error(EIO, file_->name() + ": damaged " + format_->name + " data");
      return true;
    }
    return false;
  } catch (...) {
    damage = std::current_exception();
    return true;
  }
}

void stream_reading::join(const claim& made, buffers& mine, const visitor& f) {
  std::string_view raw = mine.raw;
  std::size_t size = made.text;
  std::exception_ptr damage, why;
  std::unique_ptr<decoder> own;
  bool done = true;
  if (made.begins_member || made.begins_block) {
    try {
      own = made.begins_block ? format_->open_blocks(file_->name(), made.context)
                              : format_->open(file_->name());
      done = expand(*own, raw, mine, size, made.last, damage);
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
    const bool guessed =
        state.rest.empty() && ((made.begins_member && state.codec->at_border()) ||
                               (made.begins_block && done && state.codec->at_block(made.context)));
    if (guessed && own && made.begins_block) {
      state.codec->absorb(*own);
    } else if (guessed && own) {
      state.codec = std::move(own);
    } else if (!guessed && state.codec) {
      mine.raw.insert(0, std::exchange(state.rest, {}));
      raw = mine.raw;
      size = 0;
      damage = nullptr;
      done = expand(*state.codec, raw, mine, size, made.last, damage);
    }
    for (;;) {
      text += size;
      one = cut(state, mine, size, made.last && done && !damage);
      inspect(state, one);
      if (done || !made.last) break;
      map(one, f);  // the worker has nothing that another waits for
      size = 0;
      done = expand(*state.codec, raw, mine, size, made.last, damage);
    }
    if (!done) state.rest.assign(raw);
  } catch (...) {
    why = std::current_exception();
  }
  if (made.last && !why && !damage && plan_.lay_out) {
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
    state.quoted ^= std::ranges::count(text.substr(whole), '"') % 2 != 0;
  }
  if (whole == 0 && !last) {
    state.tail.append(text);
    return {};
  }
  piece made{.text = joined(state, mine, whole), .offset = state.offset, .lines = state.lines};
  state.tail.assign(text.substr(whole));
  state.offset += made.text.size();
  if (plan_.units != text_units::words) {
    state.lines += static_cast<std::uint64_t>(std::ranges::count(made.text, '\n'));
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
      lines += static_cast<std::uint64_t>(std::ranges::count(text.substr(0, part), '\n'));
    }
    text.remove_prefix(part);
  }
}

}  // namespace creek::mapreduce::detail
