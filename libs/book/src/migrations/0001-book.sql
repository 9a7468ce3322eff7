-- The book: events as they came, payments for the search, bookings and entries in double entry, closings, audit.

CREATE TABLE bookkeeper (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  -- Raised by each active bookkeeper. A transaction of an earlier one finds another epoch, and writes nothing.
  epoch bigint NOT NULL DEFAULT 0,
  holder text NOT NULL DEFAULT '',
  since timestamptz NOT NULL DEFAULT now(),
  -- From this moment on every change of money was reported.
  complete_from timestamptz,
  last_booking bigint NOT NULL DEFAULT 0,
  last_entry bigint NOT NULL DEFAULT 0,
  chain_hash text NOT NULL DEFAULT repeat('0', 64)
);
INSERT INTO bookkeeper DEFAULT VALUES;

-- By stream and id, so that an event that is delivered again changes nothing.
CREATE TABLE events (
  stream text NOT NULL,
  id text NOT NULL,
  type text NOT NULL,
  payment text NOT NULL,
  at timestamptz NOT NULL,
  fields jsonb NOT NULL,
  -- False for an event that this release cannot read; a later one applies it at its start.
  applied boolean NOT NULL,
  PRIMARY KEY (stream, id)
);
CREATE INDEX events_unread ON events (stream, id) WHERE NOT applied;

CREATE TABLE payments (
  id text PRIMARY KEY,
  state text NOT NULL CHECK (state IN
    ('settled', 'answered', 'released', 'refused', 'unclaimed', 'refunding', 'refunded')),
  at timestamptz NOT NULL,
  scheme text, network text, chain_id bigint, asset text, payer text, recipient text, route text, request_id text,
  transaction text, reason text,
  amount numeric(78, 0) CHECK (amount >= 0),
  refunded numeric(78, 0) NOT NULL DEFAULT 0 CHECK (refunded >= 0),
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

-- Our own transactions on the chain, so that each one's gas is booked once.
CREATE TABLE transactions (
  chain_id bigint NOT NULL,
  hash text NOT NULL,
  sender text NOT NULL,
  kind text NOT NULL,
  block_number bigint NOT NULL,
  gas_cost numeric(78, 0),
  at timestamptz NOT NULL,
  PRIMARY KEY (chain_id, hash)
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
