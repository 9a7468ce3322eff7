-- The events of payments for other programs, and who gets them. An event and its deliveries are written in the
-- transaction of the booking that they report.

CREATE TABLE payment_events (
  -- Their order. One bookkeeper writes, one transaction after another, so none appears behind a later one.
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Made of what it reports, so that it is the same in a book that was restored from a copy.
  id text NOT NULL UNIQUE,
  type text NOT NULL,
  at timestamptz NOT NULL,
  -- The JSON that is delivered.
  content text NOT NULL
);

CREATE TABLE webhook_targets (
  id text PRIMARY KEY,
  -- The API key that registered it.
  key_id text NOT NULL,
  url text NOT NULL,
  -- Types of events; empty for all.
  events text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Why it receives no events: gone, key_revoked. Null while it receives them.
  disabled text,
  -- Events that were dropped because too many waited for it.
  crowded_out bigint NOT NULL DEFAULT 0
);

-- An event that is not delivered to a target yet.
CREATE TABLE webhook_deliveries (
  target text NOT NULL REFERENCES webhook_targets ON DELETE CASCADE,
  event bigint NOT NULL REFERENCES payment_events,
  attempts bigint NOT NULL DEFAULT 0,
  -- Null for one that was given up: a dead letter.
  next_at timestamptz DEFAULT now(),
  tried_at timestamptz,
  reason text,
  PRIMARY KEY (target, event)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (target, next_at);
CREATE INDEX webhook_deliveries_of_event ON webhook_deliveries (event);

-- The last event that a consumer has taken, by its name.
CREATE TABLE event_positions (
  consumer text PRIMARY KEY,
  number bigint NOT NULL
);

-- Times of which the book may lack events, because it was restored from a copy.
CREATE TABLE gaps (
  since timestamptz NOT NULL,
  until timestamptz NOT NULL DEFAULT now()
);
