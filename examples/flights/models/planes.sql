-- Historised: each change of a plane closes its version and opens a new one; what left the register is closed.
-- materialize ducklake://main/planes key=tailnum history deletes=close
-- data_test unique tailnum
-- data_test not_null manufacturer
-- $planes (text) = 'deliveries/planes.csv'
SELECT tailnum, year AS built, type, manufacturer, model, engines, seats, engine
FROM read_csv($planes, header = true, nullstr = 'NA',
              types = {'tailnum': 'VARCHAR', 'year': 'INTEGER', 'engines': 'INTEGER', 'seats': 'INTEGER', 'speed': 'INTEGER'})
