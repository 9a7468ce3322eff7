import { caip2Of, v1NetworkOf } from './known-chains.js';

describe('networks', () => {
  it('have a version 1 name only if its clients know one', () => {
    expect(v1NetworkOf(1328)).toBe('sei-testnet');
    expect(v1NetworkOf(84532)).toBe('base-sepolia');
    expect(v1NetworkOf(31337)).toBeNull();
  });

  it('have a CAIP-2 name', () => {
    expect(caip2Of(1328)).toBe('eip155:1328');
  });
});
