-- What keeps a refund from being paid beside an answer, or twice.

ALTER TABLE refunds
  -- The ledger's name of the Permit2 permit that moved the money: it is closed as well.
  ADD COLUMN permit text;
