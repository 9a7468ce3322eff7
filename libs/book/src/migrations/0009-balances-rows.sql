-- What 0009 makes of the entries that are there: also run for those of a restored copy that was made before it.
INSERT INTO balances (account, asset, amount)
  SELECT account, asset, sum(amount) FROM entries GROUP BY account, asset HAVING sum(amount) <> 0
  ON CONFLICT (account, asset) DO UPDATE SET amount = excluded.amount;
