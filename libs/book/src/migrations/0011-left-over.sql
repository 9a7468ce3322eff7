-- What is closed for a refund and owed still: counted without reading what else is owed, or what was paid back. The conditions
-- are those of the query, word for word. `state || ''`: a planner without statistics, which PGlite does not collect, would
-- rather combine two indexes for the state, and read all that either has.
CREATE INDEX payments_left_over ON payments (id)
  WHERE state || '' IN ('refunding', 'refunded') AND NOT reported ? 'answered' AND amount IS DISTINCT FROM refunded;
