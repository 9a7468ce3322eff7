-- Why the database refuses an event for good: it is kept, and not applied. Null for every other event.
ALTER TABLE events ADD COLUMN refused text;
