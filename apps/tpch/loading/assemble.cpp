// SPDX-License-Identifier: Apache-2.0
#include "assemble.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "in_order.hpp"

namespace creek::tpch {
namespace {

/// Makes space for numbers whose packing is known; their codes are not written yet.
packed room_for(table& to, const packing& seen, std::size_t size) {
  packed shape = seen.shape();
  shape.size = size;
  buffer memory(shape.bytes());
  shape.codes = memory.data();
  to.keep(std::move(memory));
  return shape;
}

/// Returns the packing of numbers from 0 to `last`, in which each index is its own code.
packing indexes_up_to(std::uint64_t last) {
  return {.least = 0, .greatest = static_cast<std::int64_t>(last), .hundreds = false};
}

/// One column on its way from the pieces to the table.
class joined_column {
 public:
  joined_column(table& to, std::size_t schema_index, std::size_t index,
                const std::vector<table_piece>& pieces)
      : schema_index_(schema_index), index_(index) {
    result_.schema = &to.schema().columns[schema_index];
    switch (result_.schema->holds) {
      case kind::category:
        plan_words(to, pieces);
        break;
      case kind::text:
        plan_text(to, pieces);
        break;
      default:
        plan_numbers(to, pieces);
    }
  }

  /// Copies piece `p`, whose rows begin at `row`. Different pieces may be copied at the same time.
  void copy(const table_piece& piece, std::size_t p, std::size_t row) {
    const piece_column& from = piece.columns[index_];
    auto* const codes = const_cast<std::byte*>(result_.values.codes);  // ours, made by room_for
    switch (result_.schema->holds) {
      case kind::category:
        copy_words(from, p, row, codes);
        break;
      case kind::text:
        copy_text(from, p, row, codes);
        break;
      default:
        repack(from.values, result_.values, codes, row);
    }
  }

  void hand_over(table& to) const { to.put(schema_index_, result_); }

 private:
  void plan_numbers(table& to, const std::vector<table_piece>& pieces) {
    packing seen;
    for (const table_piece& piece : pieces) seen.join(piece.columns[index_].seen);
    result_.values = room_for(to, seen, to.rows());
  }

  void plan_words(table& to, const std::vector<table_piece>& pieces) {
    dictionary all;
    for (const table_piece& piece : pieces) {
      for (const std::string_view word : piece.columns[index_].words) {
        static_cast<void>(all.number_of(word));
      }
    }
    std::vector<std::uint32_t> order(all.words().size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, {}, [&](std::uint32_t number) { return all.words()[number]; });
    std::vector<std::uint32_t> rank(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    for (const table_piece& piece : pieces) {
      std::vector<std::uint32_t>& ranks = ranks_.emplace_back();
      for (const std::string_view word : piece.columns[index_].words) {
        ranks.push_back(rank[all.number_of(word)]);
      }
    }
    result_.values = room_for(to, indexes_up_to(order.empty() ? 0 : order.size() - 1), to.rows());
    keep_words(to, all.words(), order);
  }

  void keep_words(table& to, const std::vector<std::string_view>& words,
                  const std::vector<std::uint32_t>& order) {
    std::vector<std::int64_t> begins{0};
    for (const std::uint32_t number : order) {
      begins.push_back(begins.back() + static_cast<std::int64_t>(words[number].size()));
    }
    buffer bytes(static_cast<std::size_t>(begins.back()));
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::string_view word = words[order[i]];
      std::memcpy(bytes.data() + begins[i], word.data(), word.size());
    }
    result_.bytes = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    to.keep(std::move(bytes));
    result_.word_begins =
        room_for(to, indexes_up_to(static_cast<std::uint64_t>(begins.back())), begins.size());
    pack(begins, result_.word_begins, const_cast<std::byte*>(result_.word_begins.codes), 0);
  }

  void plan_text(table& to, const std::vector<table_piece>& pieces) {
    std::uint64_t bytes = 0;
    for (const table_piece& piece : pieces) {
      text_begins_.push_back(bytes);
      bytes += piece.columns[index_].text.size();
    }
    buffer memory(bytes);
    result_.bytes = {reinterpret_cast<const char*>(memory.data()), bytes};
    to.keep(std::move(memory));
    result_.values = room_for(to, indexes_up_to(bytes), to.rows() + 1);
    const std::int64_t end[] = {static_cast<std::int64_t>(bytes)};
    pack(end, result_.values, const_cast<std::byte*>(result_.values.codes), to.rows());
  }

  void copy_words(const piece_column& from, std::size_t p, std::size_t row, std::byte* codes) {
    const std::vector<std::uint32_t>& ranks = ranks_[p];
    with_width(result_.values.width, [&](auto zero) {
      using to = decltype(zero);
      to* const target = reinterpret_cast<to*>(codes) + row;
      for (std::size_t i = 0; i < from.values.size; ++i) {
        target[i] = static_cast<to>(ranks[static_cast<std::size_t>(from.values.value(i))]);
      }
    });
  }

  void copy_text(const piece_column& from, std::size_t p, std::size_t row, std::byte* codes) {
    std::uint64_t begin = text_begins_[p];
    auto* const bytes = const_cast<char*>(result_.bytes.data());
    std::memcpy(bytes + begin, from.text.data(), from.text.size());
    with_width(result_.values.width, [&](auto zero) {
      using to = decltype(zero);
      to* const target = reinterpret_cast<to*>(codes) + row;
      for (std::size_t i = 0; i < from.values.size; ++i) {
        target[i] = static_cast<to>(begin);
        begin += static_cast<std::uint64_t>(from.values.value(i));
      }
    });
  }

  std::size_t schema_index_;
  std::size_t index_;
  column result_;
  std::vector<std::vector<std::uint32_t>> ranks_;  // categories: codes of each piece's word numbers
  std::vector<std::uint64_t> text_begins_;         // text: destination of each piece's text
};

}  // namespace

table assemble(const table_schema& schema, const std::vector<bool>& wanted,
               std::vector<table_piece> pieces) {
  table result(schema);
  std::vector<std::size_t> first_row;
  std::size_t rows = 0;
  for (const table_piece& piece : pieces) {
    first_row.push_back(rows);
    rows += piece.rows;
  }
  result.set_rows(rows);
  std::vector<joined_column> columns;
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    if (wanted[i]) columns.emplace_back(result, i, columns.size(), pieces);
  }
  in_order(pieces.size(), [&] {
    return [&](std::size_t p) {
      for (joined_column& column : columns) column.copy(pieces[p], p, first_row[p]);
      std::vector<piece_column>().swap(pieces[p].columns);
    };
  });
  for (const joined_column& column : columns) column.hand_over(result);
  return result;
}

}  // namespace creek::tpch
