-- What 0007 makes of the events that are there: also run for those of a restored copy that was made before it. A stream
-- without any may have had some, which were removed: what is removed is at least a month old.
INSERT INTO stream_positions (stream, milliseconds, counter)
  (SELECT DISTINCT ON (stream) stream, split_part(id, '-', 1)::bigint AS milliseconds, split_part(id, '-', 2)::bigint AS counter
    FROM events ORDER BY stream, milliseconds DESC, counter DESC)
  UNION ALL
  SELECT '', (extract(epoch FROM now() - interval '28 days') * 1000)::bigint, 0 WHERE EXISTS (SELECT FROM bookings);
