-- SPDX-License-Identifier: Apache-2.0
-- param DATE: date 1993-01-01 1998-12-31
select o_orderpriority, count(*) as order_count
from orders
where o_orderdate >= :DATE and o_orderdate < :DATE + interval '3' month
  and exists (select * from lineitem where l_orderkey = o_orderkey and l_commitdate < l_receiptdate)
group by o_orderpriority
order by o_orderpriority
