import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { PaymentError } from '@tollgate/protocol';

import { createWallet } from './wallet.js';

describe('createWallet', () => {
  it.each([undefined, '', '0x', `0x${'0'.repeat(64)}`, 'canary'])('refuses %p as a key, unquoted', (account) => {
    const create = () =>
      createWallet({ account: account as `0x${string}`, rpcUrl: 'http://127.0.0.1:8545', chainId: 1328 });
    expect(create).toThrow(PaymentError);
    expect(create).toThrow(/^The private key is not a key of the curve secp256k1\.$/);
  });

  it('ends a sentence once, also where the chain’s own does', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'Nothing here.' } }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const wallet = createWallet({ account: `0x${'1'.repeat(64)}`, rpcUrl, chainId: 1328 });
    try {
      await expect(wallet.readOutcome(`0x${'1'.repeat(64)}`)).rejects.toThrow(/: Nothing here\.$/);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});
