-- One month of New York's departures: a delivery of the month replaces the month and nothing else.
-- materialize ducklake://main/flights
-- partitioned monthly tz=America/New_York start=2013-01-01
-- data_test unique flight_key
-- data_test accepted_values origin = EWR,JFK,LGA
-- data_test relationships carrier -> ducklake://main/airlines.carrier
-- data_test tests/air_time.sql
-- $flights (text) = 'deliveries/flights.csv'
SELECT strftime(time_hour, '%Y%m%dT%HZ') || carrier || flight || origin AS flight_key,
       time_hour, origin, dest, carrier, flight, tailnum, dep_delay, arr_delay, air_time, distance
FROM read_csv($flights, header = true, nullstr = 'NA',
              types = {'tailnum': 'VARCHAR', 'time_hour': 'TIMESTAMPTZ', 'carrier': 'VARCHAR', 'flight': 'INTEGER',
                       'origin': 'VARCHAR', 'dest': 'VARCHAR', 'dep_delay': 'INTEGER', 'arr_delay': 'INTEGER',
                       'air_time': 'INTEGER', 'distance': 'INTEGER'})
WHERE weir_partition(time_hour) = {partition}
