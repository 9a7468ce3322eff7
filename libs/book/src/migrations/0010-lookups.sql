-- What is owed, and by which refund a transaction was taken: found without reading every refund ever made. The first two
-- repeat the conditions of their queries, word for word.
CREATE INDEX payments_owed ON payments (at DESC, id DESC)
  WHERE state IN ('refused', 'released', 'unclaimed', 'refunding', 'refunded') AND NOT reported ? 'answered'
    AND amount IS DISTINCT FROM refunded;
CREATE INDEX payments_paid_back ON payments USING gin ((reported -> 'refunded') jsonb_path_ops)
  WITH (fastupdate = off) WHERE state = 'refunded';
CREATE INDEX refunds_by_transaction ON refunds (transaction) WHERE transaction IS NOT NULL;
CREATE INDEX refunds_by_recipient ON refunds (recipient) WHERE state NOT IN ('refunded', 'refused');
