// SPDX-License-Identifier: Apache-2.0
// Q19, discounted revenue: of three kinds of parts, each ordered in its quantities, shipped by air
// and handed over in person.
//
//   select sum(l_extendedprice * (1 - l_discount)) as revenue from lineitem, part
//   where p_partkey = l_partkey and l_shipmode in ('AIR', 'AIR REG')
//     and l_shipinstruct = 'DELIVER IN PERSON' and (
//       p_brand = BRAND1 and p_container in ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
//         and l_quantity >= QUANTITY1 and l_quantity <= QUANTITY1 + 10
//         and p_size between 1 and 5
//       or p_brand = BRAND2 and p_container in ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
//         and l_quantity >= QUANTITY2 and l_quantity <= QUANTITY2 + 10
//         and p_size between 1 and 10
//       or p_brand = BRAND3 and p_container in ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
//         and l_quantity >= QUANTITY3 and l_quantity <= QUANTITY3 + 10
//         and p_size between 1 and 15)
//
// (The specification repeats the first three conditions in each branch.) A part is of at most one
// of the three kinds, since its container tells them apart; few parts are of any kind.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/operators/select.hpp"
#include "tpch/operators/text_pattern.hpp"
#include "tpch/queries/terms/net_price.hpp"
#include "tpch/query.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q19_parameters{
    parameter{"BRAND1", kind::text, "Brand#12"},
    parameter{"BRAND2", kind::text, "Brand#23"},
    parameter{"BRAND3", kind::text, "Brand#34"},
    parameter{"QUANTITY1", kind::integer, "1", 0, 1'000'000},
    parameter{"QUANTITY2", kind::integer, "10", 0, 1'000'000},
    parameter{"QUANTITY3", kind::integer, "20", 0, 1'000'000},
};

struct q19_kind {
  std::string_view brand, quantity;  // names of its parameters
  std::array<std::string_view, 4> containers;
  std::int64_t greatest_size;
};

constexpr std::array<q19_kind, 3> q19_kinds{{
    {"BRAND1", "QUANTITY1", {"SM CASE", "SM BOX", "SM PACK", "SM PKG"}, 5},
    {"BRAND2", "QUANTITY2", {"MED BAG", "MED BOX", "MED PKG", "MED PACK"}, 10},
    {"BRAND3", "QUANTITY3", {"LG CASE", "LG BOX", "LG PACK", "LG PKG"}, 15},
}};

struct q19_sum {
  int128 revenue = 0;
  std::uint64_t selected = 0, matched = 0, rows = 0;
};

class q19_query final : public query_on_tables {
 public:
  q19_query(database& from, const parameter_values& given)
      : lineitem_(open(from, "lineitem",
                       {"l_partkey", "l_quantity", "l_extendedprice", "l_discount",
                        "l_shipinstruct", "l_shipmode"})),
        part_(open(from, "part", {"p_partkey", "p_brand", "p_size", "p_container"})),
        line_part_(lineitem_["l_partkey"].values),
        quantity_(lineitem_["l_quantity"].values),
        instruction_(lineitem_["l_shipinstruct"]),
        mode_(lineitem_["l_shipmode"]),
        brand_(part_["p_brand"]),
        container_(part_["p_container"]),
        size_(part_["p_size"].values),
        net_price_(lineitem_),
        modes_(codes_where(mode_, [](std::string_view w) { return w == "AIR" || w == "AIR REG"; })),
        instructions_(codes_where(instruction_,
                                  [](std::string_view w) { return w == "DELIVER IN PERSON"; })) {
    for (std::size_t i = 0; i < q19_kinds.size(); ++i) {
      brands_[i] = given.text(q19_kinds[i].brand);
      least_[i] = 100 * given.number(q19_kinds[i].quantity);
    }
    const auto [least, greatest] = std::ranges::minmax(least_);
    quantities_ = codes_between(quantity_, least, greatest + more);
  }

  [[nodiscard]] query_run run() const override {
    std::vector<std::size_t> rows;
    std::array<std::size_t, 3> ends{};
    std::vector<std::uint8_t> kind_of(container_.words());
    for (std::uint8_t i = 0; i < q19_kinds.size(); ++i) {
      for (const std::size_t row : parts_of(i, kind_of)) rows.push_back(row);
      ends[i] = rows.size();
    }
    const keyed_rows parts(part_["p_partkey"], std::move(rows));
    const q19_sum sum = over_blocks(
        lineitem_.rows(), q19_sum{},
        [&](const row_block& block, q19_sum& so_far) { add(block, parts, kind_of, so_far); },
        [](const q19_sum& a, const q19_sum& b) {
          return q19_sum{a.revenue + b.revenue, a.selected + b.selected, a.matched + b.matched,
                         a.rows + b.rows};
        });

    query_run done{.rows = rows_of_tables()};
    const cell revenue =
        sum.rows == 0 ? cell(null{}) : cell(decimal{sum.revenue, net_price::scale});
    done.result = {{"revenue"}, {{revenue}}};
    done.bytes =
        q19_kinds.size() * (brand_.values.bytes() + container_.values.bytes() + size_.bytes()) +
        parts.size() * part_["p_partkey"].values.width + mode_.values.bytes() +
        instruction_.values.bytes() + quantity_.bytes() + sum.selected * line_part_.width +
        sum.matched * (container_.values.width + quantity_.width) +
        sum.rows * net_price_.bytes_a_row();
    done.steps = {
        fmt::format("scan part, {} rows, once a kind: {}, {} and {} left", part_.rows(), ends[0],
                    ends[1] - ends[0], ends[2] - ends[1]),
        fmt::format(
            "scan lineitem, {} rows, select l_shipmode, l_shipinstruct, l_quantity: {} left",
            lineitem_.rows(), sum.selected),
        fmt::format("join on {}: {} left, {} in the quantity of their kind", parts.describe(),
                    sum.matched, sum.rows)};
    return done;
  }

 private:
  /// Returns the rows of the parts of a kind, and notes the kind of its containers.
  [[nodiscard]] std::vector<std::size_t> parts_of(std::uint8_t i,
                                                  std::vector<std::uint8_t>& kind_of) const {
    const auto brand = brand_.find(brands_[i]);
    if (!brand) return {};
    const key_index containers = codes_where(container_, [&](std::string_view word) {
      return std::ranges::find(q19_kinds[i].containers, word) != q19_kinds[i].containers.end();
    });
    for (std::size_t code = 0; code < kind_of.size(); ++code) {
      if (containers.find(static_cast<std::int64_t>(code)) != key_index::absent) kind_of[code] = i;
    }
    const code_range sizes = codes_between(size_, 1, q19_kinds[i].greatest_size);
    return select_rows(part_.rows(), [&](const row_block& block, row_mask& mask) {
      keep_between(brand_.values, block, {*brand, *brand}, mask);
      keep_between(size_, block, sizes, mask);
      keep_members(container_.values, block, containers, mask);
    });
  }

  void add(const row_block& block, const keyed_rows& parts,
           const std::vector<std::uint8_t>& kind_of, q19_sum& so_far) const {
    row_mask mask(block);
    keep_members(mode_.values, block, modes_, mask);
    keep_members(instruction_.values, block, instructions_, mask);
    keep_between(quantity_, block, quantities_, mask);
    so_far.selected += mask.count(block);
    for_each_match(line_part_, block, parts, mask,
                   [&](std::size_t row, std::size_t place) {
                     ++so_far.matched;
                     const std::uint8_t of = kind_of[container_.values.code(parts.row(place))];
                     const std::int64_t quantity = quantity_.value(row);
                     if (quantity < least_[of] || quantity > least_[of] + more) return;
                     so_far.revenue += net_price_(row);
                     ++so_far.rows;
                   },
                   {&net_price_.price(), &net_price_.discount()});
  }

  static constexpr std::int64_t more = 10 * 100;  // hundredths

  const table &lineitem_, &part_;
  const packed& line_part_;
  const packed& quantity_;
  const column& instruction_;
  const column& mode_;
  const column& brand_;
  const column& container_;
  const packed& size_;
  net_price net_price_;
  key_index modes_, instructions_;
  std::array<std::string, 3> brands_;
  std::array<std::int64_t, 3> least_{};  // quantity of each kind, in hundredths
  code_range quantities_;
};

}  // namespace

const query q19 = make_query<q19_query>("q19", "Discounted revenue", q19_parameters);

}  // namespace creek::tpch
