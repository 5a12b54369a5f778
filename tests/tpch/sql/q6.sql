-- SPDX-License-Identifier: Apache-2.0
-- param DATE: date 1991-06-01 1998-12-31
-- param DISCOUNT: decimal 0.00 0.11
-- param QUANTITY: int 0 52
select coalesce(sum(l_extendedprice * l_discount), 0) as revenue
from lineitem
where l_shipdate >= :DATE and l_shipdate < :DATE + interval '1' year
  and l_discount between :DISCOUNT - 0.01 and :DISCOUNT + 0.01 and l_quantity < :QUANTITY
