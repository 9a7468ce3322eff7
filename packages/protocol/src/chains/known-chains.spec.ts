import * as registry from 'viem/chains';

import { caip2Of, KNOWN_CHAINS, v1NetworkOf } from './known-chains.js';

describe('networks', () => {
  it('have a version 1 name only if its clients know one', () => {
    expect(v1NetworkOf(1328)).toBe('sei-testnet');
    expect(v1NetworkOf(84532)).toBe('base-sepolia');
    expect(v1NetworkOf(31337)).toBeNull();
  });

  it('have a CAIP-2 name', () => {
    expect(caip2Of(1328)).toBe('eip155:1328');
  });

  it.each(KNOWN_CHAINS)('$name has the native coin of the registry', ({ id, coin }) => {
    const listed = Object.values(registry).find((chain) => chain.id === id);
    expect(listed?.nativeCurrency).toMatchObject({ symbol: coin, decimals: 18 });
  });
});
