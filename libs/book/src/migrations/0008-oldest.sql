-- What `forget` removes, oldest first: it reads neither what stays nor what it has removed before.
CREATE INDEX events_oldest ON events (at) WHERE applied;
CREATE INDEX payment_events_oldest ON payment_events (at);
CREATE INDEX payments_to_forget ON payments (at) WHERE request_salt <> '';
