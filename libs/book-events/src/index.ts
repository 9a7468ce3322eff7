export * from './book-event.js';
export { BOOK_GROUP, bucketEventsKey, laneBookKey, REFUSED_EVENTS } from './keys.js';
