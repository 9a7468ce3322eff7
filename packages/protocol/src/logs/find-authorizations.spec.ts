import type { Hex } from '../wire/hex.js';
import { findAuthorizations } from './find-authorizations.js';
import type { EmittedLog } from './token-log.js';

const ASSET: Hex = `0x${'a5'.repeat(20)}`;
const [PAYER, OTHER, SHOP]: Hex[] = ['11', '22', '33'].map((byte): Hex => `0x${byte.repeat(20)}`);
const [N1, N2]: Hex[] = ['01', '02'].map((byte): Hex => `0x${byte.repeat(32)}`);
const word = (address = PAYER!): Hex => `0x${address.slice(2).padStart(64, '0')}`;
const log = (topics: Hex[], data: Hex, address: Hex): EmittedLog => ({ address, topics, data });

const transfer = (from = PAYER, address = ASSET): EmittedLog =>
  log(
    ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', word(from), word(SHOP)],
    `0x${'1'.padStart(64, '0')}`,
    address,
  );
const used = (nonce = N1, authorizer = PAYER, address = ASSET): EmittedLog =>
  log(['0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5', word(authorizer), nonce!], '0x', address);

describe('findAuthorizations', () => {
  const find = (...logs: EmittedLog[]) => [...findAuthorizations(logs, ASSET)];

  it('gives each authorization the transfer it caused', () => {
    expect(find(used(N1), transfer(), used(N2), transfer())).toEqual([
      [1, N1],
      [3, N2],
    ]);
  });

  it('leaves the transfers before and after alone', () => {
    expect(find(transfer(), used(N1), transfer(), transfer())).toEqual([[2, N1]]);
  });

  it('supports tokens that emit the event after the transfer', () => {
    expect(find(transfer(), used(N1), transfer(OTHER))).toEqual([[0, N1]]);
  });

  it('matches the authorizer and the token', () => {
    expect(find(used(N1, OTHER), transfer(), transfer(OTHER))).toEqual([[2, N1]]);
    expect(find(used(N1, PAYER, OTHER), transfer())).toEqual([]);
    expect(find(used(N1), transfer(PAYER, OTHER))).toEqual([]);
  });

  it('returns nothing without authorizations', () => {
    expect(find(transfer(), transfer())).toEqual([]);
  });
});
