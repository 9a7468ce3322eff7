export { fulfil } from './fulfil.js';
export type * from './purchase.js';
