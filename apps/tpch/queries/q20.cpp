// SPDX-License-Identifier: Apache-2.0
// Q20, potential part promotion: suppliers of a nation with more of some parts in store than half
// of what they shipped in a year.
//
//   select s_name, s_address from supplier, nation
//   where s_suppkey in
//       (select ps_suppkey from partsupp
//        where ps_partkey in (select p_partkey from part where p_name like 'COLOR%')
//          and ps_availqty >
//            (select 0.5 * sum(l_quantity) from lineitem
//             where l_partkey = ps_partkey and l_suppkey = ps_suppkey
//               and l_shipdate >= DATE and l_shipdate < DATE + 1 year))
//     and s_nationkey = n_nationkey and n_name = NATION
//   order by s_name  -- equal ones here by s_suppkey
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/group_sums.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/operators/text_pattern.hpp"
#include "tpch/queries/terms/nation_rows.hpp"
#include "tpch/queries/terms/part_offers.hpp"
#include "tpch/query.hpp"
#include "tpch/values/date.hpp"
#include "tpch/values/day_limits.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q20_parameters{
    parameter{"COLOR", kind::text, "forest"},
    parameter{"DATE", kind::date, "1994-01-01", first_day, last_day},
    parameter{"NATION", kind::text, "CANADA"},
};

class q20_query final : public query_on_tables {
 public:
  q20_query(database& from, const parameter_values& given)
      : supplier_(open(from, "supplier", {"s_suppkey", "s_name", "s_address", "s_nationkey"})),
        nation_(open(from, "nation", {"n_nationkey", "n_name"})),
        partsupp_(open(from, "partsupp", {"ps_partkey", "ps_suppkey", "ps_availqty"})),
        part_(open(from, "part", {"p_partkey", "p_name"})),
        lineitem_(open(from, "lineitem", {"l_partkey", "l_suppkey", "l_quantity", "l_shipdate"})),
        line_part_(lineitem_["l_partkey"].values),
        line_supplier_(lineitem_["l_suppkey"].values),
        quantity_(lineitem_["l_quantity"].values),
        shipdate_(lineitem_["l_shipdate"].values),
        pattern_{.front = given.text("COLOR")},
        nation_name_(given.text("NATION")) {
    const auto date = static_cast<std::int32_t>(given.number("DATE"));
    dates_ = codes_between(shipdate_, date, add_months(date, 12) - 1);
  }

  [[nodiscard]] query_run run() const override {
    const column& name = part_["p_name"];
    const keyed_rows parts(part_["p_partkey"],
                           select_rows(part_.rows(), [&](const row_block& block, row_mask& mask) {
                             keep_like(name, block, pattern_, true, mask);
                           }));
    const part_offers offers(partsupp_, parts);
    const auto shipped = shipped_of(parts, offers);
    const std::vector<std::int64_t> promoted = suppliers_of(offers, shipped);

    query_run done{.result = answer_of(promoted)};
    done.rows = rows_of_tables();
    std::uint64_t lines = 0, sums = 0;
    for (std::size_t i = 0; i < offers.all().size(); ++i) {
      const sum* const of = shipped.find(static_cast<std::int64_t>(i));
      lines += of == nullptr ? 0 : of->rows;
      sums += of == nullptr ? 0 : 1;
    }
    const packed& offer_part = partsupp_["ps_partkey"].values;
    done.bytes = name.scan_bytes() + offer_part.bytes() + shipdate_.bytes() + line_part_.bytes() +
                 supplier_["s_nationkey"].values.bytes() +
                 parts.size() * part_["p_partkey"].values.width +
                 offers.all().size() * partsupp_["ps_suppkey"].values.width +
                 lines * (line_supplier_.width + quantity_.width) +
                 sums * partsupp_["ps_availqty"].values.width;
    done.steps = {
        fmt::format("scan part, {} rows, select p_name: {} left", part_.rows(), parts.size()),
        fmt::format("scan partsupp, {} rows, join on {}: {} left", partsupp_.rows(),
                    parts.describe(), offers.all().size()),
        fmt::format("scan lineitem, {} rows, select l_shipdate, join on {} and their suppliers: {} "
                    "left",
                    lineitem_.rows(), parts.describe(), lines),
        fmt::format("sum by part and supplier in {} of {} bytes: {} groups", shipped.way(),
                    shipped.bytes(), sums),
        fmt::format("select ps_availqty: {} suppliers, {} of the nation", promoted.size(),
                    done.result.rows.size())};
    return done;
  }

 private:
  using sum = group_sum<int128>;

  /// Returns the quantity of each offer; several offers by one supplier count as the first one.
  [[nodiscard]] groups<sum> shipped_of(const keyed_rows& parts, const part_offers& offers) const {
    return group_sums<sum>(
        lineitem_.rows(), key_range::below(offers.all().size()),
        [&](const row_block& block, auto&& emit) {
          row_mask mask(block);
          keep_between(shipdate_, block, dates_, mask);
          for_each_match(line_part_, block, parts, mask, [&](std::size_t row, std::size_t part) {
            const auto [first, last] = offers.find(part, line_supplier_.value(row));
            if (first == last) return;
            emit(static_cast<std::int64_t>(first), {.sum = quantity_.value(row), .rows = 1});
          });
        });
  }

  /// Returns the keys of suppliers that have more than half of the quantity. No quantity is above
  /// half of the sum of no rows.
  [[nodiscard]] std::vector<std::int64_t> suppliers_of(const part_offers& offers,
                                                       const groups<sum>& shipped) const {
    const packed& available = partsupp_["ps_availqty"].values;
    auto keys = shipped.gather<std::int64_t>(
        [&](std::int64_t offer, const sum& of, std::vector<std::int64_t>& to) {
          const auto first = static_cast<std::size_t>(offer);
          const part_offers::offer& key = offers.all()[first];
          for (std::size_t i = first; i < offers.find(key.part, key.supplier).second; ++i) {
            constexpr int hundredths_in_half = 200;  // the sum is in hundredths
            const int128 stock = available.value(offers.all()[i].row);
            if (stock * hundredths_in_half > of.sum) to.push_back(key.supplier);
          }
        });
    make_key_set(keys);
    return keys;
  }

  [[nodiscard]] answer answer_of(const std::vector<std::int64_t>& promoted) const {
    const keyed_rows nations =
        rows_with_word(nation_["n_nationkey"], nation_["n_name"], nation_name_);
    const keyed_rows suppliers =
        rows_of_partners(supplier_["s_suppkey"], supplier_["s_nationkey"], nations);
    // Names are copied before they are sorted: a file may change meanwhile.
    std::vector<std::pair<std::string, std::size_t>> rows;  // by s_suppkey
    for (const std::int64_t key : promoted) {
      const std::size_t row = suppliers.find(key);
      if (row != keyed_rows::absent) rows.emplace_back(supplier_["s_name"].text(row), row);
    }
    std::ranges::stable_sort(rows, {}, [](const auto& named) { return named.first; });
    answer result{{"s_name", "s_address"}, {}};
    for (const auto& [name, row] : rows) {
      result.rows.push_back({name, std::string(supplier_["s_address"].text(row))});
    }
    return result;
  }

  const table &supplier_, &nation_, &partsupp_, &part_, &lineitem_;
  const packed& line_part_;
  const packed& line_supplier_;
  const packed& quantity_;
  const packed& shipdate_;
  text_pattern pattern_;
  std::string nation_name_;
  code_range dates_;
};

}  // namespace

const query q20 = make_query<q20_query>("q20", "Potential part promotion", q20_parameters);

}  // namespace creek::tpch
