import { EXACT_PROXY_ADDRESS, UPTO_PROXY_ADDRESS, type EmittedLog, type Hex } from '@tollgate/protocol';

import { findPermitTransfers } from './permit-contracts.js';

const [ASSET, OTHER_ASSET, PAYER, OTHER, SHOP] = ['a5', 'a6', '11', '22', '33'].map(
  (byte): Hex => `0x${byte.repeat(20)}`,
) as [Hex, Hex, Hex, Hex, Hex];
const word = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`;

const transfer = (from = PAYER, address = ASSET, to = SHOP): EmittedLog => ({
  address,
  topics: ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', word(from), word(to)],
  data: `0x${'7'.padStart(64, '0')}`,
});
const SETTLED = '0x97088ec3606cfe8cc112180570d03fcde05f9b8e1bfef8e27784eaf5dd5691b6';
const SETTLED_WITH_PERMIT = '0xde5b89d10fc800c459329c382fabfcad0be0ed7e5328e01fae04e507b09ef5d8';
const settled = (address: Hex = EXACT_PROXY_ADDRESS, event: Hex = SETTLED): EmittedLog => ({
  address,
  topics: [event],
  data: '0x',
});
/** Any other event of the token, such as an approval. */
const approval = (): EmittedLog => ({ address: ASSET, topics: [`0x${'8c'.repeat(32)}`], data: '0x' });

describe('findPermitTransfers', () => {
  const find = (...logs: EmittedLog[]) => [...findPermitTransfers(logs, ASSET).keys()];

  it('finds the transfer before the settlement, and the amount moved', () => {
    const logs = [transfer(), settled(UPTO_PROXY_ADDRESS)];
    expect([...findPermitTransfers(logs, ASSET)]).toEqual([
      [0, { from: PAYER, to: SHOP, amountBaseUnits: 7n, proxy: UPTO_PROXY_ADDRESS }],
    ]);
    expect(find(transfer(), settled(EXACT_PROXY_ADDRESS, SETTLED_WITH_PERMIT))).toEqual([0]);
  });

  it('distinguishes several settlements in one transaction', () => {
    expect(find(transfer(), settled(), transfer(OTHER), settled(UPTO_PROXY_ADDRESS), transfer())).toEqual([0, 2]);
  });

  it('counts the fee that a token keeps as part of it, and skips other events', () => {
    expect(find(approval(), transfer(PAYER, ASSET, OTHER), transfer(), approval(), settled())).toEqual([2, 1]);
  });

  it('ignores the transfers of others', () => {
    expect(find(transfer(OTHER), transfer(), settled())).toEqual([1]);
    expect(find(transfer(), transfer(PAYER, OTHER_ASSET), settled())).toEqual([]);
    expect(find(settled(), transfer())).toEqual([]);
  });

  it('accepts only the proxies and their settlement events', () => {
    expect(find(transfer(), settled(OTHER))).toEqual([]);
    expect(find(transfer(), settled(EXACT_PROXY_ADDRESS, `0x${'01'.repeat(32)}`))).toEqual([]);
    expect(find(transfer(), { address: EXACT_PROXY_ADDRESS, topics: [], data: '0x' })).toEqual([]);
  });
});
