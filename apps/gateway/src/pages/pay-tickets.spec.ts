import { createHmac } from 'node:crypto';

import { PayTickets, type TicketTerms } from './pay-tickets.js';

const SECRETS = ['a-secret-of-more-than-thirty-two-characters', 'an-older-secret-of-more-than-32-characters'];
const TERMS: TicketTerms = {
  lock: `0x${'ab'.repeat(32)}`,
  path: '/v1/quotes/SEI%20x',
  priceBaseUnits: 10_000n,
  asset: `0x${'1c'.repeat(20)}`,
  payTo: `0x${'2d'.repeat(20)}`,
  chainId: 1328,
  network: 'chain-testnet',
  expiresAtMs: 1_800_000_000_000,
};

describe('a ticket', () => {
  const tickets = new PayTickets(SECRETS);
  const ticket = tickets.create(TERMS) ?? '';

  it('holds its terms', () => {
    expect(ticket).toMatch(/^[\w-]{100,300}$/);
    expect(tickets.read(ticket)).toEqual(TERMS);
  });

  it('holds the largest price, chain and network', () => {
    const large = {
      ...TERMS,
      priceBaseUnits: 2n ** 128n - 1n,
      chainId: Number.MAX_SAFE_INTEGER % 2 ** 47,
      network: 'n'.repeat(64),
    };
    expect(tickets.read(tickets.create(large) ?? '')).toEqual(large);
  });

  it('is accepted under an older secret, and under no other', () => {
    const old = new PayTickets(SECRETS.slice(1)).create(TERMS) ?? '';
    expect(tickets.read(old)).toEqual(TERMS);
    expect(new PayTickets(['another-secret-of-more-than-32-characters']).read(ticket)).toBeNull();
  });

  it('is refused with any of its characters changed', () => {
    for (let at = 0; at < ticket.length; at += 1) {
      const other = ticket[at] === 'A' ? 'B' : 'A';
      expect(tickets.read(ticket.slice(0, at) + other + ticket.slice(at + 1))).toBeNull();
    }
  });

  it.each(['', 'x', '../../etc', 'A'.repeat(900), `${ticket}A`, ticket.slice(0, -4), '😀'])('refuses %j', (text) => {
    expect(tickets.read(text)).toBeNull();
  });

  it('is not made for a path that is too long for a code', () => {
    const longest = { ...TERMS, path: `/${'x'.repeat(460)}` };
    expect(tickets.read(tickets.create(longest) ?? '')).toEqual(longest);
    expect(tickets.create({ ...TERMS, path: `/${'x'.repeat(600)}` })).toBeNull();
  });

  it('is signed in a domain of its own: no reference and no sign-in is its signature', () => {
    const bytes = Buffer.from(ticket, 'base64url');
    const plain = createHmac('sha256', SECRETS[0] ?? '')
      .update(bytes.subarray(0, -16))
      .digest();
    expect(plain.subarray(0, 16).equals(bytes.subarray(-16))).toBe(false);
  });
});
