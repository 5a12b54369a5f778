// SPDX-License-Identifier: Apache-2.0
#include "stealing_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

#include <support/unbalanced_tree.hpp>
#include <support/zipf_text.hpp>

namespace creek::tool::machines {
namespace {

using creek_bench::child;
using creek_bench::children;
using node = creek_bench::tree_node;

enum kind : int {
  ask = 1,   ///< to a random victim
  refused,   ///< its answer, without tasks
  stolen,    ///< its answer, with tasks
  lifeline,  ///< a request that stays until there are tasks
  given,     ///< the answer to it
  collect,   ///< asks for counts of messages
  counts,
  finish
};

/// Messages with tasks of some ranks.
struct task_messages {
  std::uint64_t sent = 0, received = 0;
  friend bool operator==(const task_messages&, const task_messages&) = default;
};

/// One rank. The end is found by counting messages [Mattern 1987]: rank 0 collects the counts of
/// all ranks, each of which reports when it has no tasks; the search is over when two rounds in
/// succession find the same numbers, as many received as sent. Counts travel along a binomial tree.
class searcher {
 public:
  searcher(model_communicator& c, const constants& costs, const tree_search& search,
           search_outcome& all)
      : c_(&c),
        node_time_(units::seconds{costs.node_ns * 1e-9}),
        nodes_per_look_(static_cast<std::uint64_t>(
            std::max(1.0, std::round(costs.poll_us * 1e3 / costs.node_ns)))),
        depth_limit_(search.depth_limit),
        all_(&all),
        lifelines_(lifelines_of(c.rank(), c.size())),
        asked_(lifelines_.size()),
        random_(search.seed << 32U | static_cast<std::uint64_t>(c.rank())) {
    for (int step = 1; c.rank() + step < c.size() && c.rank() % (2 * step) == 0; step *= 2) {
      below_.push_back(c.rank() + step);
    }
  }

  void run() {
    if (c_->rank() == 0) bag_.push_back(creek_bench::tree_root());
    while (!finished_) {
      while (!bag_.empty()) {
        run_tasks();
        while (c_->has_message()) handle(c_->take());
        answer_lifelines();
      }
      if (c_->size() == 1) return;
      find_tasks();
    }
  }

 private:
  static constexpr int random_victims = 2;  // before the lifelines. An estimate.

  /// Runs the newest tasks, as many as there are between two looks for messages.
  void run_tasks() {
    std::uint64_t done = 0;
    for (; done < nodes_per_look_ && !bag_.empty(); ++done) {
      const node at = bag_.back();
      bag_.pop_back();
      const int count = children(at, depth_limit_);
      for (int i = 0; i < count; ++i) bag_.push_back(child(at, i));
    }
    c_->compute(static_cast<double>(done) * node_time_);
    all_->nodes += done;
  }

  /// Waits for tasks, or for the end of the search.
  void find_tasks() {
    for (int i = 0; i < random_victims; ++i) {
      if (!waits_for_victim_) ask_random_victim();
      while (waits_for_victim_ && bag_.empty()) handle(c_->take());
      if (!bag_.empty()) return;
    }
    for (std::size_t i = 0; i < lifelines_.size(); ++i) {
      if (!asked_[i]) post(lifelines_[i], lifeline);
      asked_[i] = true;
    }
    is_idle_ = true;
    if (c_->rank() == 0 && !collects_) begin_round();
    report();
    while (bag_.empty() && !finished_) handle(c_->take());
    is_idle_ = false;
  }
  void ask_random_victim() {
    auto victim = static_cast<int>(random_() % static_cast<std::uint64_t>(c_->size() - 1));
    if (victim >= c_->rank()) ++victim;
    post(victim, ask);
    waits_for_victim_ = true;
  }

  void handle(const posted_message& got) {
    switch (got.kind) {
      case ask:
        return bag_.size() < 2 ? post(got.from, refused) : send_half(got.from, stolen);
      case refused:
        ++all_->failed_steals;
        waits_for_victim_ = false;
        return;
      case stolen:
        waits_for_victim_ = false;
        return receive(got);
      case lifeline:
        requests_.push_back(got.from);
        return answer_lifelines();
      case given:
        for (std::size_t i = 0; i < lifelines_.size(); ++i) {
          if (lifelines_[i] == got.from) asked_[i] = false;
        }
        return receive(got);
      case collect:
        begin_round();
        return report();
      case counts: {
        task_messages theirs;
        std::memcpy(&theirs, got.content.data(), sizeof theirs);
        sum_.sent += theirs.sent;
        sum_.received += theirs.received;
        ++reports_;
        return report();
      }
      default:
        return end();
    }
  }

  void receive(const posted_message& got) {
    ++own_.received;
    is_idle_ = false;
    const std::size_t count = got.content.size() / sizeof(node), before = bag_.size();
    bag_.resize(before + count);
    std::memcpy(bag_.data() + before, got.content.data(), got.content.size());
  }
  /// Sends the older half of the bag.
  void send_half(int to, kind answer) {
    const std::size_t count = bag_.size() / 2;
    const auto bytes = std::as_bytes(std::span<const node>(bag_).first(count));
    c_->post(to, answer, {bytes.begin(), bytes.end()});
    bag_.erase(bag_.begin(), bag_.begin() + static_cast<std::ptrdiff_t>(count));
    ++own_.sent;
    ++all_->steals;
  }
  void answer_lifelines() {
    while (!requests_.empty() && bag_.size() >= 2) {
      send_half(requests_.front(), given);
      requests_.erase(requests_.begin());
    }
  }

  /// Posts a message without content but its kind.
  void post(int to, kind what) { c_->post(to, what, std::vector<std::byte>(sizeof(int))); }
  void post_below(kind what) {
    for (const int rank : below_) post(rank, what);
  }

  // --- The end
  void begin_round() {
    if (c_->rank() == 0) ++all_->rounds;
    collects_ = true;
    sum_ = {};
    reports_ = 0;
    post_below(collect);
  }
  /// Reports the counts of this rank and of those below it, if all are known and it has no tasks.
  void report() {
    if (!collects_ || !is_idle_ || reports_ < below_.size()) return;
    collects_ = false;
    sum_.sent += own_.sent;
    sum_.received += own_.received;
    if (c_->rank() != 0) {
      const auto bytes = std::as_bytes(std::span(&sum_, 1));
      return c_->post(c_->rank() & (c_->rank() - 1), counts, {bytes.begin(), bytes.end()});
    }
    if (sum_.sent == sum_.received && sum_ == last_sum_) return end();
    last_sum_ = sum_;
    begin_round();
  }
  void end() {
    finished_ = true;
    post_below(finish);
  }

  model_communicator* c_;
  units::seconds node_time_;
  std::uint64_t nodes_per_look_;
  int depth_limit_;
  search_outcome* all_;
  std::vector<node> bag_;  ///< the last is the newest
  std::vector<int> lifelines_;
  std::vector<bool> asked_;    ///< lifelines that have a request of this rank
  std::vector<int> requests_;  ///< ranks that have this rank as a lifeline and wait, oldest first
  creek_bench::random_bits random_;
  std::vector<int> below_;  ///< children in the binomial tree
  task_messages own_, sum_;
  std::optional<task_messages> last_sum_;  ///< of the round before
  std::size_t reports_ = 0;
  bool waits_for_victim_ = false, is_idle_ = false, collects_ = false, finished_ = false;
};

}  // namespace

void search_rank(model_communicator& c, const constants& costs, const tree_search& search,
                 search_outcome& all) {
  searcher(c, costs, search, all).run();
}

std::vector<int> lifelines_of(int rank, int ranks) {
  std::vector<int> neighbours;
  for (int bit = 1; bit < ranks; bit *= 2) {
    if ((rank ^ bit) < ranks) neighbours.push_back(rank ^ bit);
  }
  return neighbours;
}

}  // namespace creek::tool::machines
