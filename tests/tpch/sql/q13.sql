-- SPDX-License-Identifier: Apache-2.0
-- param WORD1: choice special|pending|unusual|express
-- param WORD2: choice packages|requests|accounts|deposits
select c_count, count(*) as custdist
from (
  select c_custkey, count(o_orderkey) as c_count
  from customer left outer join orders
    on c_custkey = o_custkey and o_comment not like '%' || :WORD1 || '%' || :WORD2 || '%'
  group by c_custkey)
group by c_count
order by custdist desc, c_count desc
