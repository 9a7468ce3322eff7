-- What 0002 makes of the payments that are there: also run for those of a restored copy that was made before it.
INSERT INTO unreconciled_payments (id, chain_id, transaction, asset, payer, recipient, amount)
  SELECT id, chain_id, transaction, asset, coalesce(payer, ''), recipient, amount FROM payments
  WHERE chain_id IS NOT NULL AND transaction IS NOT NULL AND recipient IS NOT NULL AND asset IS NOT NULL AND amount > 0;
