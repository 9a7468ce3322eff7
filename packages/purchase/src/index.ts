export { BUSY_STATUSES, pauseMsAfter } from './busy.js';
export { sell } from './sell.js';
export type * from './purchase.js';
