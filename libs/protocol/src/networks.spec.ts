import { caip2Of, readCaip2, v1NetworkOf } from './networks.js';

describe('networks', () => {
  it('have a name of version 1 only where its clients know one', () => {
    expect(v1NetworkOf(1328)).toBe('sei-testnet');
    expect(v1NetworkOf(84532)).toBe('base-sepolia');
    expect(v1NetworkOf(31337)).toBeNull();
  });

  it('have a CAIP-2 name, which reads back', () => {
    expect(caip2Of(1328)).toBe('eip155:1328');
    expect(readCaip2('eip155:1328')).toBe(1328);
  });

  it.each([
    '',
    'eip155:',
    'eip155:0',
    'eip155:01328',
    'eip155:1328\n',
    'EIP155:1',
    'solana:1',
    'eip155:9999999999999999',
  ])('of another form have no chain id: %j', (network) => {
    expect(readCaip2(network)).toBeNull();
  });
});
