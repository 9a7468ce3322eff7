-- How far this book has each stream of the outbox: the newest entry that was ever stored. Entries themselves may be removed.
CREATE TABLE stream_positions (
  stream text PRIMARY KEY,
  -- The entry's id in Redis.
  milliseconds bigint NOT NULL,
  counter bigint NOT NULL
);
