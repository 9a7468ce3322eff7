export { sell } from './sell.js';
export type * from './purchase.js';
