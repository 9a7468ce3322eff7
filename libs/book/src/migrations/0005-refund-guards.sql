-- What keeps a refund from being paid beside an answer, or twice.

ALTER TABLE refunds
  -- The ledger's name of the Permit2 permit that moved the money: it is closed as well.
  ADD COLUMN permit text,
  -- A job of it may have been sent, and what became of it is not known.
  ADD COLUMN maybe_sent boolean NOT NULL DEFAULT false,
  -- When this attempt was asked for: its job is accepted for some days from then on.
  ADD COLUMN attempt_at timestamptz NOT NULL DEFAULT now();
