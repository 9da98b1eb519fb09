-- Replaced as a whole, computed from the lake: how late each airline was.
-- materialize ducklake://main/punctuality
-- data_test unique carrier
-- data_test not_null airline
SELECT f.carrier, any_value(a.name) AS airline, count(*) AS flights,
       count(*) FILTER (WHERE f.dep_delay IS NULL) AS cancelled,
       CAST(round(avg(f.arr_delay), 2) AS DECIMAL(10, 2)) AS mean_delay
FROM flights AS f JOIN airlines AS a USING (carrier)
GROUP BY f.carrier
