import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readEnvironment } from '@tollgate/config';

import { BookkeeperEnvironment } from './bookkeeper.config.js';

const [SHOP, SECOND_SHOP] = [`0x${'5a'.repeat(20)}`, `0x${'5b'.repeat(20)}`];

describe('the options of a bookkeeper', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bookkeeper-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const file = join(folder, 'payments.yaml');
  writeFileSync(
    file,
    `chains:
  base: { rpc: 'http://base.example', reconcileConfirmations: 3 }
  sei: { rpc: 'http://sei.example' }
accepts:
  usdc-base: { chain: base, token: USDC, payTo: ['${SHOP}', '${SECOND_SHOP}'] }
  usdc-sei: { chain: sei, token: USDC, payTo: '${SHOP}' }
`,
  );
  const BOOK_SIGNING_KEY = '3b9f1c6a52e8d7401f6b2c9d8e5a70431c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f';
  const read = (more: Record<string, string> = {}) =>
    readEnvironment(BookkeeperEnvironment, { PAYMENTS_FILE: file, BOOK_SIGNING_KEY, ...more });

  it('are those of every chain, a token once for each account that it is paid to', () => {
    const { chains, tokens, scopes } = read();
    expect(chains.map(({ name }) => name)).toEqual(['base', 'sei']);
    expect(tokens.map(({ name }) => name)).toEqual(['usdc-base', 'usdc-sei']);
    expect(scopes.map(({ chainId, recipient }) => [chainId, recipient])).toEqual([
      ...[
        [8453, SHOP],
        [8453, SECOND_SHOP],
        [1329, SHOP],
      ],
    ]);
  });

  it('are final after the blocks of their chain, else of RECONCILE_CONFIRMATIONS', () => {
    const environment = read({ RECONCILE_CONFIRMATIONS: '20' });
    expect(environment.chains.map((chain) => environment.finalAfter(chain))).toEqual([3, 20]);
  });

  it('have no limit of refunds above the largest amount of their token, which none would exceed', () => {
    expect(() => read({ REFUND_MOST_PER_DAY: '9'.repeat(30) })).not.toThrow();
    const wide = join(folder, 'wide.yaml');
    writeFileSync(
      wide,
      `chains: { sei: { rpc: 'http://sei.example' } }
accepts: { wide: { chain: sei, token: '0x${'5c'.repeat(20)}', decimals: 36, rate: '1000000000000', payTo: '${SHOP}' } }
`,
    );
    expect(() => read({ PAYMENTS_FILE: wide, REFUND_MOST_PER_DAY: '9'.repeat(30) })).toThrow(
      /A limit of refunds \(REFUND_…\) in wide: .* does not fit into 256 bits/,
    );
    expect(() => read({ PAYMENTS_FILE: wide, REFUND_MOST_PER_DAY: 'none' })).not.toThrow();
  });

  it('have no least unclaimed amount in common', () => {
    expect(() => read({ BOOK_LEAST_UNCLAIMED: '100' })).toThrow(
      'BOOK_LEAST_UNCLAIMED is base units of one token, and PAYMENTS_FILE has several',
    );
  });
});
