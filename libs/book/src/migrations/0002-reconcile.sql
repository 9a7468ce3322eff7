-- Reconciling: what the chain shows beside what is booked, and what fits neither.

-- `withdrawn`: the chain no longer has its transfer, or the transfer belongs to another payment.
ALTER TABLE payments DROP CONSTRAINT payments_state_check;
ALTER TABLE payments ADD CONSTRAINT payments_state_check CHECK (state IN
  ('settled', 'answered', 'released', 'refused', 'unclaimed', 'refunding', 'refunded', 'withdrawn'));

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

-- Our own transactions: `final` once the chain has shown them deep enough, `removed` when it no longer has them.
ALTER TABLE transactions ADD COLUMN nonce bigint, ADD COLUMN value numeric(78, 0),
  ADD COLUMN state text NOT NULL DEFAULT 'reported' CHECK (state IN ('reported', 'final', 'removed'));
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
  PRIMARY KEY (list, subject)
);
