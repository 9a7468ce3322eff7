export * from './book-event.js';
export { BOOK_GROUP, bucketEventsKey, isLaneName, laneBookKey, REFUSED_EVENTS } from './keys.js';
