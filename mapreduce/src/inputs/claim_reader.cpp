// SPDX-License-Identifier: Apache-2.0
#include "claim_reader.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <creek/core/error.hpp>
#include <cstring>
#include <utility>

namespace creek::mapreduce::detail {
namespace {

/// Compressed bytes that are searched for the end of a member. A longer member is decompressed by
/// one worker after the other.
constexpr std::size_t max_member = std::size_t{4} << 20;

}  // namespace

claim_reader::claim_reader(open_file file) : file_(std::move(file)) {
  constexpr int pipe_bytes = 1 << 20;  // the largest that any user may ask for by default: pipe(7)
  (void)fcntl(file_.descriptor(), F_SETPIPE_SZ, pipe_bytes);  // fewer switches to the writer
  std::string magic(magic_bytes, '\0');
  magic.resize(read(magic.data(), magic.size()));
  first_ = std::move(magic);
  at_end_ = false;  // of what is left to read, which begins with first_
  format_ = format_of(first_);
  if (format_ != nullptr && format_->open == nullptr) {
    throw error(ENOTSUP,
                file_.name() + ": " + format_->name + " data, which has to be unpacked first");
  }
}

std::size_t claim_reader::read(char* to, std::size_t bytes) {
  const std::size_t n = std::min(bytes, first_.size());
  std::memcpy(to, first_.data(), n);
  first_.erase(0, n);
  std::size_t end = n;
  while (end < bytes && !at_end_) {
    const std::size_t got = file_.read(to + end, bytes - end);
    at_end_ = got == 0;
    end += got;
  }
  return end;
}

claimed_bytes claim_reader::claim_plain(char* to, std::size_t bytes, std::size_t& size) {
  size = read(to, bytes);
  return {.last = at_end_, .continues = !at_end_};
}

void claim_reader::fill_ahead(std::size_t bytes) {
  const std::size_t here = ahead().size();
  if (here >= bytes || at_end_) return;
  if (ahead_begin_ >= here) {
    ahead_.erase(0, ahead_begin_);
    ahead_begin_ = 0;
  }
  const std::size_t end = ahead_.size();
  ahead_.resize(end + bytes - here);
  ahead_.resize(end + read(ahead_.data() + end, bytes - here));
}

claimed_bytes claim_reader::claim_compressed(std::string& to, std::size_t wanted) {
  bool at_member = false;
  claimed_bytes made{.context = context_};
  std::size_t bytes = end_of_blocks(wanted, at_member);
  const bool blocks = bytes != 0;
  if (!blocks) bytes = end_of_claim(wanted, at_member);
  to.assign(ahead().substr(0, bytes));
  made.begins_member = at_member_ && !std::exchange(at_begin_, false);
  made.begins_block = at_block_ && blocks;
  at_block_ = blocks && !at_member;
  made.last = at_end_ && bytes == ahead().size();
  ahead_begin_ += bytes;
  searched_ -= std::min(searched_, bytes);
  at_member_ = at_member;
  made.continues = !made.last && !made.begins_member && !at_member_ && !at_block_;
  return made;
}

/// Returns the bytes of whole blocks ahead, and those of the member's header before them; 0 if the
/// sizes of blocks are unknown, or if the member is so short that several are to be claimed. Stores
/// whether the member ends with these blocks.
std::size_t claim_reader::end_of_blocks(std::size_t wanted, bool& at_member) {
  if (format_->next_block == nullptr || !(at_member_ || at_block_)) return 0;
  for (std::size_t bytes = 0;;) {
    const std::string_view here = ahead().substr(bytes);
    const block_ahead next = format_->next_block(here, at_member_ && bytes == 0, context_);
    if (next.bytes == 0) return bytes;
    if (next.bytes > here.size()) {
      const std::size_t seen = bytes + here.size();
      fill_ahead(bytes + next.bytes);
      if (ahead().size() == seen) return bytes;  // the file ends
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

/// Returns how many of the bytes ahead are claimed, and stores whether what follows may be a
/// member. A claim ends before a member if one begins within the wanted bytes or, for a claim that
/// begins with one, within the longest member.
std::size_t claim_reader::end_of_claim(std::size_t wanted, bool& at_member) {
  for (std::size_t most = wanted;; most = std::min(2 * most, max_member)) {
    fill_ahead(most + magic_bytes);
    const std::string_view here = ahead();
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
std::size_t claim_reader::next_member(std::string_view here, std::size_t most) {
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

}  // namespace creek::mapreduce::detail
