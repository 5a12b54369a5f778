-- SPDX-License-Identifier: Apache-2.0
-- param I1: int 10 34
-- param I2: int 10 34
-- param I3: int 10 34
-- param I4: int 10 34
-- param I5: int 10 34
-- param I6: int 10 34
-- param I7: int 10 34
with countries as (
  select cast(code as varchar) as code
  from (values (:I1), (:I2), (:I3), (:I4), (:I5), (:I6), (:I7)) as given(code))
select cntrycode, count(*) as numcust, sum(c_acctbal) as totacctbal
from (
  select substring(c_phone from 1 for 2) as cntrycode, c_acctbal
  from customer
  where substring(c_phone from 1 for 2) in (select code from countries)
    and c_acctbal * (
      select count(*) from customer
      where c_acctbal > 0.00 and substring(c_phone from 1 for 2) in (select code from countries))
      > (
      select sum(c_acctbal) from customer
      where c_acctbal > 0.00 and substring(c_phone from 1 for 2) in (select code from countries))
    and not exists (select * from orders where o_custkey = c_custkey)) as custsale
group by cntrycode
order by cntrycode
