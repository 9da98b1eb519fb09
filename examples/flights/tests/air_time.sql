-- No flight is longer in the air than twelve hours or faster than sound.
SELECT flight_key, air_time, distance
FROM _wm_target.flights
WHERE air_time NOT BETWEEN 1 AND 720 OR distance * 60 / air_time > 767
