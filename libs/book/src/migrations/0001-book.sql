-- The book: events as they came, payments for the search, bookings and entries in double entry, closings, audit; what the
-- chain shows beside it; refunds; and the events of payments for other programs.

CREATE TABLE bookkeeper (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  -- Raised by each active bookkeeper. A transaction of an earlier one finds another epoch, and writes nothing.
  epoch bigint NOT NULL DEFAULT 0,
  holder text NOT NULL DEFAULT '',
  since timestamptz NOT NULL DEFAULT now(),
  last_booking bigint NOT NULL DEFAULT 0,
  last_entry bigint NOT NULL DEFAULT 0,
  chain_hash text NOT NULL DEFAULT repeat('0', 64)
);
INSERT INTO bookkeeper DEFAULT VALUES;

-- From this moment on every change of money was reported, by chain; a chain that a process does not report has no row.
CREATE TABLE complete_from (
  chain_id bigint PRIMARY KEY,
  at timestamptz NOT NULL
);

-- By stream and id, so that an event that is delivered again changes nothing.
CREATE TABLE events (
  stream text NOT NULL,
  id text NOT NULL,
  type text NOT NULL,
  payment text NOT NULL,
  at timestamptz NOT NULL,
  fields jsonb NOT NULL,
  -- The transactions that its fields name, of an event that is not applied.
  names jsonb,
  -- False for an event that this release cannot read; a later one applies it at its start.
  applied boolean NOT NULL,
  -- Why the database refuses it for good: it is kept, and not applied. Null for every other event.
  refused text,
  PRIMARY KEY (stream, id)
);
CREATE INDEX events_unread ON events (stream, id) WHERE NOT applied;
CREATE INDEX events_unread_of_payment ON events (payment) WHERE NOT applied;
CREATE INDEX events_unread_names ON events USING gin (names jsonb_path_ops) WITH (fastupdate = off) WHERE NOT applied;
-- What `forget` removes, oldest first: it reads neither what stays nor what it has removed before. Also those below.
CREATE INDEX events_oldest ON events (at) WHERE applied;

-- How far this book has each stream of the outbox: the newest entry that was ever stored, without those in the future. Entries themselves may be removed.
CREATE TABLE stream_positions (
  stream text PRIMARY KEY,
  -- The entry's id in Redis.
  milliseconds bigint NOT NULL,
  counter numeric NOT NULL
);

CREATE TABLE payments (
  id text PRIMARY KEY,
  -- `withdrawn`: the chain no longer has its transfer, or the transfer belongs to another payment.
  state text NOT NULL CHECK (state IN
    ('settled', 'answered', 'released', 'refused', 'unclaimed', 'refunding', 'refunded', 'withdrawn')),
  at timestamptz NOT NULL,
  scheme text, network text, chain_id bigint, asset text, payer text, recipient text, route text, request_id text,
  -- What was asked for, as it was sent: `forget` removes it.
  path text, query text,
  transaction text, reason text,
  amount numeric(78, 0) CHECK (amount >= 0),
  refunded numeric(78, 0) NOT NULL DEFAULT 0 CHECK (refunded >= 0),
  -- The facilitator settled it for another seller: its money is neither sold nor owed here.
  for_other boolean NOT NULL DEFAULT false,
  -- What the events reported, by type: the timeline. `request_salt` makes the request's hash in the entries unguessable.
  reported jsonb NOT NULL,
  request_salt text NOT NULL,
  CONSTRAINT refunds_at_most_what_arrived CHECK (refunded = 0 OR refunded <= amount)
);
CREATE INDEX payments_newest ON payments (at DESC, id DESC);
CREATE INDEX payments_by_state ON payments (state, at DESC, id DESC);
CREATE INDEX payments_by_route ON payments (route, at DESC, id DESC);
CREATE INDEX payments_by_payer ON payments (payer, at DESC, id DESC);
CREATE INDEX payments_by_transaction ON payments (transaction);
CREATE INDEX payments_by_request ON payments (request_id);
CREATE INDEX payments_by_amount ON payments (amount);
CREATE INDEX payments_to_forget ON payments (at) WHERE request_salt <> '';
-- What is owed: found without reading every payment. These repeat the conditions of their queries, word for word.
CREATE INDEX payments_owed ON payments (at DESC, id DESC)
  WHERE state IN ('refused', 'released', 'unclaimed', 'refunding', 'refunded') AND NOT reported ? 'answered'
    AND amount IS DISTINCT FROM refunded AND NOT for_other;
-- `state || ''`: a planner without statistics, as of a book that grows fast, would rather combine two indexes for the state,
-- and read all that either has.
CREATE INDEX payments_left_over ON payments (id)
  WHERE state || '' IN ('refunding', 'refunded') AND NOT reported ? 'answered' AND amount IS DISTINCT FROM refunded
    AND NOT for_other;
CREATE INDEX payments_paid_back ON payments USING gin ((reported -> 'refunded') jsonb_path_ops)
  WITH (fastupdate = off) WHERE state = 'refunded';

-- Our own transactions on the chain, so that each one's gas is booked once: `final` once the chain has shown them deep
-- enough, `removed` when it no longer has them.
CREATE TABLE transactions (
  chain_id bigint NOT NULL,
  hash text NOT NULL,
  sender text NOT NULL,
  kind text NOT NULL,
  block_number bigint NOT NULL,
  gas_cost numeric(78, 0),
  at timestamptz NOT NULL,
  nonce bigint,
  value numeric(78, 0),
  state text NOT NULL DEFAULT 'reported' CHECK (state IN ('reported', 'final', 'removed')),
  PRIMARY KEY (chain_id, hash)
);
CREATE INDEX transactions_reported ON transactions (block_number) WHERE state = 'reported';
CREATE INDEX transactions_of_sender ON transactions (chain_id, sender, nonce);

-- Our accounts: every transaction before `nonce` is known, and was in or before this block.
CREATE TABLE senders (
  chain_id bigint NOT NULL,
  address text NOT NULL,
  nonce bigint NOT NULL,
  block_number bigint NOT NULL,
  PRIMARY KEY (chain_id, address)
);

CREATE TABLE bookings (
  id bigint PRIMARY KEY,
  -- The exact text that the hash covers.
  content text NOT NULL,
  kind text NOT NULL,
  payment text,
  booked_at timestamptz NOT NULL,
  content_hash text NOT NULL,
  -- SHA-256 of the previous booking's chain hash and this content hash.
  chain_hash text NOT NULL
);
CREATE INDEX bookings_of_payment ON bookings (payment) WHERE payment IS NOT NULL;

CREATE TABLE entries (
  id bigint PRIMARY KEY,
  -- No foreign key: its check needs the right to update bookings, which nobody has.
  booking bigint NOT NULL,
  account text NOT NULL,
  asset text NOT NULL,
  -- In base units: a debit is positive, a credit negative.
  amount numeric(78, 0) NOT NULL CHECK (amount <> 0)
);
CREATE INDEX entries_of_booking ON entries (booking);
CREATE INDEX entries_of_account ON entries (account, asset);

-- The sum of the entries of each account and asset, changed in the transaction that books them. Those that are 0 are not kept:
-- there is an account for each payer, and most return to 0.
CREATE TABLE balances (
  account text NOT NULL,
  asset text NOT NULL,
  amount numeric(100, 0) NOT NULL CHECK (amount <> 0),
  PRIMARY KEY (account, asset)
);

CREATE TABLE closings (
  number bigint PRIMARY KEY,
  day date NOT NULL,
  first_booking bigint NOT NULL,
  last_booking bigint NOT NULL,
  content text NOT NULL,
  hash text NOT NULL,
  signer text NOT NULL,
  signature text NOT NULL
);

CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  key_id text NOT NULL,
  action text NOT NULL,
  subject text NOT NULL,
  request_id text NOT NULL,
  details jsonb NOT NULL
);
-- What an API key did today.
CREATE INDEX audit_of_key ON audit (key_id, at);

-- Times of which the book may lack events, because it was restored from a copy.
CREATE TABLE gaps (
  since timestamptz NOT NULL,
  until timestamptz NOT NULL DEFAULT now()
);

-- How far the chain has been read. A recipient, asset or chain that is set anew begins at its own block.
CREATE TABLE chain_positions (
  scope text PRIMARY KEY,
  first_block bigint NOT NULL,
  next_block bigint NOT NULL,
  -- Time of the newest block that was read.
  read_until timestamptz
);
-- Blocks at which a page of transfers ended, so that a reorganisation of blocks that were read is noticed.
CREATE TABLE chain_blocks (
  scope text NOT NULL,
  number bigint NOT NULL,
  hash text NOT NULL,
  PRIMARY KEY (scope, number)
);

-- The transfers that the chain shows, with the payment that each is booked as.
CREATE TABLE chain_transfers (
  chain_id bigint NOT NULL,
  transaction text NOT NULL,
  log_index bigint NOT NULL,
  block_number bigint NOT NULL,
  asset text NOT NULL,
  payer text NOT NULL,
  recipient text NOT NULL,
  amount numeric(78, 0) NOT NULL CHECK (amount > 0),
  payment text,
  -- Time of its block, where it is known.
  at timestamptz,
  seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, transaction, log_index)
);
CREATE INDEX chain_transfers_unbooked ON chain_transfers (transaction) WHERE payment IS NULL;
CREATE INDEX chain_transfers_by_block ON chain_transfers (block_number);

-- Payments whose transfer the chain has not shown, as they are booked. Small: a payment leaves it with its transfer.
CREATE TABLE unreconciled_payments (
  id text PRIMARY KEY,
  chain_id bigint NOT NULL,
  transaction text NOT NULL,
  asset text NOT NULL,
  -- Empty where no event names it.
  payer text NOT NULL,
  recipient text NOT NULL,
  amount numeric(78, 0) NOT NULL,
  since timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX unreconciled_payments_by_transaction ON unreconciled_payments (transaction);

-- What the last comparison could not explain.
CREATE TABLE differences (
  list text NOT NULL CHECK (list IN ('chain_only', 'book_only', 'different')),
  subject text NOT NULL,
  transaction text,
  asset text NOT NULL,
  -- Base units that chain and book differ by.
  amount numeric(78, 0) NOT NULL,
  at timestamptz NOT NULL,
  reason text NOT NULL,
  -- Equal logs and nonces of two chains are two subjects: the asset has the chain.
  PRIMARY KEY (list, asset, subject)
);
CREATE INDEX differences_of_transaction ON differences (transaction);

-- Refunds, each once for a payment and a number.
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
  -- The transaction whose transfers are paid back, and what is taken of each: `[{"log": 0, "taken": "10000"}]`.
  arrived_in text NOT NULL,
  takes jsonb NOT NULL,
  -- Of the job that sends it; each attempt is another job.
  attempt integer NOT NULL,
  job text,
  transaction text,
  -- Why it failed, or was refused.
  detail text,
  -- The ledger's name of the signed payment that moved the money: it is closed as well.
  permit text,
  -- A job of it may have been sent, and what became of it is not known.
  maybe_sent boolean NOT NULL DEFAULT false,
  -- When this attempt was asked for: its job is accepted for some days from then on.
  attempt_at timestamptz NOT NULL DEFAULT now(),
  -- What was asked for, where a transaction that a person named has paid another amount; null where it is the amount.
  asked_amount numeric(78, 0),
  UNIQUE (payment, number)
);
CREATE INDEX refunds_newest ON refunds (asked_at DESC, id DESC);
CREATE INDEX refunds_in_work ON refunds (id) WHERE state IN ('asked', 'closed', 'sending');
CREATE INDEX refunds_by_transaction ON refunds (transaction) WHERE transaction IS NOT NULL;
CREATE INDEX refunds_by_recipient ON refunds (recipient) WHERE state NOT IN ('refunded', 'refused');

-- What refunds take of each transfer that the chain shows, whatever the payment is called: it is paid back once. Changed in the
-- transaction in which a refund is asked for or ended.
CREATE TABLE refunded_transfers (
  chain_id bigint NOT NULL,
  transaction text NOT NULL,
  -- The place of its log in the transaction, which a reorganisation leaves as it is.
  log bigint NOT NULL,
  arrived numeric(78, 0) NOT NULL,
  taken numeric(78, 0) NOT NULL CHECK (taken >= 0),
  PRIMARY KEY (chain_id, transaction, log),
  CONSTRAINT refunded_at_most_what_arrived CHECK (taken <= arrived)
);

-- The events of payments for other programs. An event is written in the transaction of the booking that it reports.

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
CREATE INDEX payment_events_oldest ON payment_events (at);
-- Above the numbers of a book that was lost, which gave less than one for each millisecond: readers may remember those.
SELECT setval(pg_get_serial_sequence('payment_events', 'number'), (extract(epoch FROM clock_timestamp()) * 1000)::bigint);

-- The last event that a consumer has taken, by its name.
CREATE TABLE event_positions (
  consumer text PRIMARY KEY,
  number bigint NOT NULL
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: correct it with another entry', TG_TABLE_NAME USING ERRCODE = '42501';
END $$;

-- Each booking balances in each asset. Checked at the commit, when all its entries are there.
CREATE FUNCTION check_balance() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE booked bigint;
BEGIN
  IF TG_TABLE_NAME = 'bookings' THEN booked := NEW.id; ELSE booked := NEW.booking; END IF;
  IF EXISTS (SELECT FROM entries WHERE booking = booked GROUP BY asset HAVING sum(amount) <> 0)
    OR NOT EXISTS (SELECT FROM entries WHERE booking = booked)
    OR NOT EXISTS (SELECT FROM bookings WHERE id = booked)
  THEN
    RAISE EXCEPTION 'booking % is not complete, or does not sum to zero', booked USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER bookings_balance AFTER INSERT ON bookings DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION check_balance();
CREATE CONSTRAINT TRIGGER entries_balance AFTER INSERT ON entries DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION check_balance();

DO $$
DECLARE written text;
BEGIN
  FOREACH written IN ARRAY ARRAY['bookings', 'entries', 'closings', 'audit'] LOOP
    EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()', written);
    EXECUTE format('CREATE TRIGGER keep_all BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', written);
    EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON %I FROM PUBLIC, CURRENT_USER', written);
  END LOOP;
END $$;
