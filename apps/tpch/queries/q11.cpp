// SPDX-License-Identifier: Apache-2.0
// Q11, important stock: parts that make up much of what a nation's suppliers have in store.
//
//   select ps_partkey, sum(ps_supplycost * ps_availqty) as value
//   from partsupp, supplier, nation
//   where ps_suppkey = s_suppkey and s_nationkey = n_nationkey and n_name = NATION
//   group by ps_partkey
//   having sum(ps_supplycost * ps_availqty) >
//     (select sum(ps_supplycost * ps_availqty) * FRACTION from partsupp, supplier, nation
//      where ps_suppkey = s_suppkey and s_nationkey = n_nationkey and n_name = NATION)
//   order by value desc  -- equal ones here by ps_partkey
//
// One row in twenty-five is left: gathered, then summed by the index of the part among these.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/group_sums.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/queries/terms/nation_rows.hpp"
#include "tpch/query.hpp"

namespace creek::tpch {
namespace {

constexpr int fraction_scale = 10;
constexpr std::int64_t whole = 10'000'000'000;

constexpr std::array q11_parameters{
    parameter{"NATION", kind::text, "GERMANY"},
    parameter{"FRACTION", kind::decimal, "0.0001", 0, whole, fraction_scale},
};

struct q11_part {
  std::int64_t part = 0;
  int128 value = 0;  ///< in hundredths
};

/// Returns the largest integer not above total * fraction / whole; an integer is above the quotient
/// if it is above this. No product exceeds 128 bits if the total does not.
int128 share_of(int128 total, std::int64_t fraction) {
  const int128 rest = total % whole * fraction;
  return total / whole * fraction + rest / whole - (rest % whole < 0 ? 1 : 0);
}

class q11_query final : public query_on_tables {
 public:
  q11_query(database& from, const parameter_values& given)
      : partsupp_(
            open(from, "partsupp", {"ps_partkey", "ps_suppkey", "ps_availqty", "ps_supplycost"})),
        supplier_(open(from, "supplier", {"s_suppkey", "s_nationkey"})),
        nation_(open(from, "nation", {"n_nationkey", "n_name"})),
        part_key_(partsupp_["ps_partkey"].values),
        supplier_key_(partsupp_["ps_suppkey"].values),
        available_(partsupp_["ps_availqty"].values),
        cost_(partsupp_["ps_supplycost"].values),
        nation_name_(given.text("NATION")),
        fraction_(given.number("FRACTION")) {}

  [[nodiscard]] query_run run() const override {
    const keyed_rows nations =
        rows_with_word(nation_["n_nationkey"], nation_["n_name"], nation_name_);
    const keyed_rows suppliers =
        rows_of_partners(supplier_["s_suppkey"], supplier_["s_nationkey"], nations);
    const auto offers = gather_rows<q11_part>(
        partsupp_.rows(), [&](const row_block& block, std::vector<q11_part>& to) {
          row_mask mask(block);
          keep_members(supplier_key_, block, suppliers.index(), mask);
          for (const std::size_t offset : row_list(block, mask)) {
            const std::size_t row = block.first + offset;
            to.push_back({part_key_.value(row), int128{cost_.value(row)} * available_.value(row)});
          }
        });
    const std::vector<q11_part> parts = parts_of(offers);

    query_run done{.result = answer_of(parts), .rows = rows_of_tables()};
    done.bytes = supplier_["s_nationkey"].values.bytes() + supplier_key_.bytes() +
                 offers.size() * (part_key_.width + available_.width + cost_.width);
    done.steps = {
        fmt::format("scan supplier, {} rows: {} of the nation", supplier_.rows(), suppliers.size()),
        fmt::format("scan partsupp, {} rows, join on {}: {} left", partsupp_.rows(),
                    suppliers.describe(), offers.size()),
        fmt::format("sum by part: {} groups, {} above the fraction of all", parts.size(),
                    done.result.rows.size())};
    return done;
  }

 private:
  /// Returns the sum of each part.
  [[nodiscard]] static std::vector<q11_part> parts_of(const std::vector<q11_part>& offers) {
    std::vector<std::int64_t> keys(offers.size());
    std::ranges::transform(offers, keys.begin(), &q11_part::part);
    make_key_set(keys);
    const key_index index(keys);
    const auto sums = group_sums<group_sum<int128>>(
        offers.size(), key_range::below(keys.size()), [&](const row_block& block, auto&& emit) {
          for (std::size_t i = block.first; i < block.first + block.rows; ++i) {
            emit(static_cast<std::int64_t>(index.find(offers[i].part)),
                 {.sum = offers[i].value, .rows = 1});
          }
        });
    return sums.gather<q11_part>([&](std::int64_t place, const group_sum<int128>& of, auto& to) {
      to.push_back({keys[static_cast<std::size_t>(place)], of.sum});
    });
  }

  [[nodiscard]] answer answer_of(std::vector<q11_part> parts) const {
    int128 total = 0;
    for (const q11_part& part : parts) total += part.value;
    const int128 limit = share_of(total, fraction_);
    std::erase_if(parts, [&](const q11_part& part) { return part.value <= limit; });
    std::ranges::sort(parts, [](const q11_part& a, const q11_part& b) {
      return a.value != b.value ? a.value > b.value : a.part < b.part;
    });
    answer result{{"ps_partkey", "value"}, {}};
    for (const q11_part& part : parts) {
      result.rows.push_back({part.part, decimal{part.value, 2}});
    }
    return result;
  }

  const table &partsupp_, &supplier_, &nation_;
  const packed& part_key_;
  const packed& supplier_key_;
  const packed& available_;
  const packed& cost_;
  std::string nation_name_;
  std::int64_t fraction_;
};

}  // namespace

const query q11 = make_query<q11_query>("q11", "Important stock", q11_parameters);

}  // namespace creek::tpch
