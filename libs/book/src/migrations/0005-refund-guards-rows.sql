-- What 0005 makes of the refunds that are there: also run for those of a restored copy that was made before it.
UPDATE refunds SET attempt_at = changed_at,
  maybe_sent = state IN ('failed', 'given_up') AND coalesce(detail LIKE 'The journal %', false);
