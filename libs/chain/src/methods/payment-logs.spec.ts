import { EXACT_PROXY_ADDRESS, type EmittedLog, type Hex } from '@tollgate/protocol';

import { findCauses, listArrivals } from './payment-logs.js';

const [ASSET, PAYER, SHOP] = ['a5', '11', '33'].map((byte): Hex => `0x${byte.repeat(20)}`) as [Hex, Hex, Hex];
const NONCE: Hex = `0x${'01'.repeat(32)}`;
const word = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`;
const used: EmittedLog = {
  address: ASSET,
  topics: ['0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5', word(PAYER), NONCE],
  data: '0x',
};
const transfer: EmittedLog = {
  address: ASSET,
  topics: ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', word(PAYER), word(SHOP)],
  data: `0x${'7'.padStart(64, '0')}`,
};
const settled: EmittedLog = {
  address: EXACT_PROXY_ADDRESS,
  topics: ['0x97088ec3606cfe8cc112180570d03fcde05f9b8e1bfef8e27784eaf5dd5691b6'],
  data: '0x',
};

// Prevents: in one transaction of a payer an authorization loses its name to a permit that follows it, and is taken for a
// payment that nothing was sold for.
it('keeps the name of an authorization whose transfer comes directly before that of a permit', () => {
  const logs = [used, transfer, transfer, settled];
  const authorization = { kind: 'authorization', chainId: 1, asset: ASSET, from: PAYER, nonce: NONCE };
  const arrivals = listArrivals(logs, { chainId: 1, asset: ASSET, recipient: SHOP });
  expect(arrivals.map(({ position, cause }) => [position, cause?.kind, cause?.id])).toEqual([
    [1, 'authorization', authorization],
    [2, 'permit2', null],
  ]);
  // Both causes are returned: the payer could present the permit too.
  expect(
    findCauses(logs, { chainId: 1, asset: ASSET })
      .get(1)
      ?.map(({ kind }) => kind),
  ).toEqual(['authorization', 'permit2']);
});
