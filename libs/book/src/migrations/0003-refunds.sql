-- Refunds, each once for a payment and a number, and what an API key did today.

CREATE TABLE refunds (
  -- Made from the payment and the number, so that the ledger and the journal know the refund by it too.
  id text PRIMARY KEY,
  payment text NOT NULL,
  number integer NOT NULL CHECK (number > 0),
  state text NOT NULL CHECK (state IN
    ('asked', 'closed', 'sending', 'refunded', 'failed', 'given_up', 'refused')),
  -- Base units of the asset.
  amount numeric(78, 0) NOT NULL CHECK (amount > 0),
  chain_id bigint NOT NULL,
  asset text NOT NULL,
  recipient text NOT NULL,
  reason text,
  -- Whether it is meant for a payment that bought an answer.
  answered boolean NOT NULL,
  -- Why it needs a person: texts.
  doubts jsonb NOT NULL,
  -- The API keys that asked for it: none of them may approve it.
  asked_by text[] NOT NULL,
  asked_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  -- Of the job that sends it; each attempt is another job.
  attempt integer NOT NULL,
  job text,
  transaction text,
  -- Why it failed, or was refused.
  detail text,
  UNIQUE (payment, number)
);
CREATE INDEX refunds_newest ON refunds (asked_at DESC, id DESC);
CREATE INDEX refunds_in_work ON refunds (id) WHERE state IN ('asked', 'closed', 'sending');

CREATE INDEX audit_of_key ON audit (key_id, at);
