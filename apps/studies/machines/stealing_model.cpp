// SPDX-License-Identifier: Apache-2.0
#include "stealing_model.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

#include <support/unbalanced_tree.hpp>
#include <support/zipf_text.hpp>

namespace creek::tool::machines {
namespace {

using creek_bench::child;
using creek_bench::children;
using node = creek_bench::tree_node;

enum kind : int { ask = 1, refuse, work, lifeline, finished };

class searcher {
 public:
  searcher(model_communicator& c, const constants& costs, const tree_search& search,
           search_outcome& all)
      : c_(&c),
        node_time_(units::seconds{costs.node_ns * 1e-9}),
        search_(search),
        all_(&all),
        lifelines_(lifelines_of(c.rank(), c.size())),
        asked_(lifelines_.size()),
        random_(static_cast<std::uint64_t>(c.rank()) + 1) {}

  void run() {
    if (c_->rank() == 0) {
      nodes_.push_back(creek_bench::tree_root());
      all_->open = 1;
    }
    while (!finished_) {
      while (!nodes_.empty()) {
        expand();
        while (!finished_ && c_->has_mail()) handle(c_->take());
        feed();
      }
      if (c_->size() == 1 || finished_) return;
      find_work();
    }
  }

 private:
  /// Expands up to so many nodes as there are between two looks.
  void expand() {
    int done = 0;
    for (; done < search_.nodes_per_look && !nodes_.empty(); ++done) {
      const node at = nodes_.back();
      nodes_.pop_back();
      const int count = children(at, search_.depth_limit);
      for (int i = 0; i < count; ++i) nodes_.push_back(child(at, i));
      all_->open += static_cast<std::uint64_t>(count);
    }
    c_->compute(static_cast<double>(done) * node_time_);
    all_->expanded += static_cast<std::uint64_t>(done);
    all_->open -= static_cast<std::uint64_t>(done);
    all_->last_node = std::max(all_->last_node, c_->now());
    if (all_->open == 0) {
      finish(branch{0, static_cast<int>(std::bit_ceil(static_cast<unsigned>(c_->size())))});
    }
  }

  /// Asks until there is work, or the search is over.
  void find_work() {
    if (!waits_for_lifelines()) {
      auto victim = static_cast<int>(random_() % static_cast<std::uint64_t>(c_->size() - 1));
      if (victim >= c_->rank()) ++victim;
      c_->post(victim, ask, std::vector<std::byte>(sizeof(int)));
      answered_ = false;
      while (!answered_ && !finished_) handle(c_->take());
      if (!nodes_.empty() || finished_) return;
      if (search_.victims == victim_choice::random) return;
      for (std::size_t i = 0; i < lifelines_.size(); ++i) {
        if (asked_[i]) continue;
        asked_[i] = true;
        c_->post(lifelines_[i], lifeline, std::vector<std::byte>(sizeof(int)));
      }
    }
    while (nodes_.empty() && !finished_) handle(c_->take());
  }
  [[nodiscard]] bool waits_for_lifelines() const {
    return search_.victims == victim_choice::lifelines && !lifelines_.empty() &&
           std::ranges::count(asked_, true) == std::ssize(asked_);
  }

  void handle(mail got) {
    switch (got.kind) {
      case ask:
        if (nodes_.size() < 2)
          return c_->post(got.from, refuse, std::vector<std::byte>(sizeof(int)));
        ++all_->steals;
        return give(got.from);
      case lifeline:
        hungry_.push_back(got.from);
        return feed();
      case refuse:
        ++all_->failed_steals;
        answered_ = true;
        return;
      case work: {
        answered_ = true;
        const std::size_t count = got.content.size() / sizeof(node), before = nodes_.size();
        nodes_.resize(before + count);
        std::memcpy(nodes_.data() + before, got.content.data(), got.content.size());
        for (std::size_t i = 0; i < lifelines_.size(); ++i) {
          if (lifelines_[i] == got.from) asked_[i] = false;
        }
        return;
      }
      case finished:
        return finish(got);
      default:
        return;
    }
  }
  /// Sends half of the nodes, the oldest.
  void give(int to) {
    const std::size_t count = nodes_.size() / 2;
    std::vector<std::byte> content(count * sizeof(node));
    std::memcpy(content.data(), nodes_.data(), content.size());
    nodes_.erase(nodes_.begin(), nodes_.begin() + static_cast<std::ptrdiff_t>(count));
    c_->post(to, work, std::move(content));
  }
  void feed() {
    while (!hungry_.empty() && nodes_.size() >= 2) {
      give(hungry_.back());
      hungry_.pop_back();
    }
  }

  /// Place of a rank in the binomial tree that tells the end, and the places below it.
  struct branch {
    int place, reach;
  };
  /// Ends the search here and at the ranks of a branch, whose root expanded the last node.
  void finish(branch own) {
    finished_ = true;
    for (int reach = own.reach / 2; reach > 0; reach /= 2) {
      const branch below{own.place + reach, reach};
      if (below.place >= c_->size()) continue;
      std::vector<std::byte> content(sizeof below);
      std::memcpy(content.data(), &below, sizeof below);
      c_->post((c_->rank() + reach) % c_->size(), finished, std::move(content));
    }
  }
  void finish(const mail& told) {
    branch own{};
    std::memcpy(&own, told.content.data(), sizeof own);
    finish(own);
  }

  model_communicator* c_;
  units::seconds node_time_;
  tree_search search_;
  search_outcome* all_;
  std::vector<node> nodes_;  ///< found and not expanded; the last is the next
  std::vector<int> lifelines_;
  std::vector<bool> asked_;  ///< lifelines that know that this rank has no work
  std::vector<int> hungry_;  ///< ranks that wait for work of this one
  creek_bench::random_bits random_;
  bool answered_ = true, finished_ = false;
};

}  // namespace

void search_rank(model_communicator& c, const constants& costs, const tree_search& search,
                 search_outcome& all) {
  searcher(c, costs, search, all).run();
}

std::uint64_t count_nodes(int depth_limit) {
  std::vector<node> open{creek_bench::tree_root()};
  std::uint64_t count = 0;
  for (; !open.empty(); ++count) {
    const node at = open.back();
    open.pop_back();
    for (int i = children(at, depth_limit) - 1; i >= 0; --i) open.push_back(child(at, i));
  }
  return count;
}

std::vector<int> lifelines_of(int rank, int ranks) {
  std::vector<int> made;
  for (int bit = 1; bit < ranks; bit *= 2) {
    if ((rank ^ bit) < ranks) made.push_back(rank ^ bit);
  }
  return made;
}

}  // namespace creek::tool::machines
