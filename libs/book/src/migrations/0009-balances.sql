-- The sum of the entries of each account and asset, changed in the transaction that books them. Those that are 0 are not kept:
-- there is an account for each payer, and most return to 0.
CREATE TABLE balances (
  account text NOT NULL,
  asset text NOT NULL,
  amount numeric(100, 0) NOT NULL CHECK (amount <> 0),
  PRIMARY KEY (account, asset)
);
