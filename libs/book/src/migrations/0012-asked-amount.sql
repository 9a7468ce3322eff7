-- What was asked for, where a transaction that a person named has paid another amount; null where it is the amount.
ALTER TABLE refunds ADD COLUMN asked_amount numeric(78, 0);
