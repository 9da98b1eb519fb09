-- Merged by key: a delivery updates the airlines it names and leaves the others.
-- materialize ducklake://main/airlines key=carrier duplicates=fail
-- data_test unique carrier
-- data_test not_null name
-- $airlines (text) = 'deliveries/airlines.csv'
SELECT carrier, name FROM read_csv($airlines, header = true, all_varchar = true)
