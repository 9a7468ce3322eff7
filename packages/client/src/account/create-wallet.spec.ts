import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { inspect } from 'node:util';

import { PaymentError, type Hex, type Permit2Transfer, type TransferAuthorization } from '@tollgate/protocol';

import { listenLocally } from '../../../../tools/devnet/processes/listen-locally.js';
import { createWallet } from './create-wallet.js';
import type { Wallet } from './wallet.js';

/** A wallet whose RPC server is this listener, at a path that contains a key. */
async function withChain(
  listener: RequestListener,
  work: (wallet: Wallet) => Promise<void>,
  rpcTimeoutMs = 10_000,
): Promise<void> {
  const { url, stop } = await listenLocally(createServer(listener));
  const rpcUrl = `${url}/v2/canary-key`;
  try {
    await work(createWallet({ account: `0x${'1'.repeat(64)}`, rpcUrl, chainId: 1328, rpcTimeoutMs }));
  } finally {
    await stop();
  }
}

function refuse(response: ServerResponse, message = 'Nothing here.'): void {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32000, message } }));
}

describe('createWallet', () => {
  it.each([undefined, '', '0x', `0x${'0'.repeat(64)}`, 'canary'])(
    'refuses %p as a key, without quoting it',
    (account) => {
      const create = () =>
        createWallet({ account: account as `0x${string}`, rpcUrl: 'http://127.0.0.1:8545', chainId: 1328 });
      expect(create).toThrow(PaymentError);
      expect(create).toThrow(/^The private key is not a valid secp256k1 key\.$/);
    },
  );

  it('ends a message with one full stop, even if the chain’s own message has one', async () => {
    await withChain(
      (_request, response) => refuse(response),
      async (wallet) => {
        await expect(wallet.readOutcome(`0x${'1'.repeat(64)}`)).rejects.toThrow(/: Nothing here\.$/);
      },
    );
  });

  const word: Hex = `0x${'1'.repeat(64)}`;
  const address: Hex = `0x${'1'.repeat(40)}`;
  const authorization: TransferAuthorization = {
    from: address,
    to: address,
    value: '1',
    validAfter: '0',
    validBefore: '1',
    nonce: word,
  };
  const transfer = { permit2Authorization: { from: address, nonce: '1', deadline: '1' } } as Permit2Transfer;
  const transaction = { txHash: word, rawTransaction: '0x01', nonce: 1 } as const;

  // Regression: the time-out covered only the headers, so a body that never ended blocked all further payments of a
  // program.
  it.each([200, 502])('does not wait for the end of an answer that begins with %s and never ends', async (status) => {
    const begin = (response: ServerResponse) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).write('{');
    await withChain(
      (_request, response) => void begin(response),
      async (wallet) => {
        await expect(wallet.readOutcome(word)).rejects.toThrow(
          /^The RPC server at 127\.0\.0\.1:\d+ does not answer in time\.$/,
        );
      },
      500,
    );
  });

  it('has the host and HTTP status in an error and in its cause', async () => {
    await withChain(
      (_request, response) => void response.writeHead(429).end('slow down'),
      async (wallet) => {
        const message = expect.stringMatching(/^The RPC server at 127\.0\.0\.1:\d+ answers with HTTP status 429\.$/);
        await expect(wallet.readOutcome(word)).rejects.toMatchObject({ message, cause: { message } });
      },
    );
  });

  // Prevents: a program that logs its payment errors whole logs the key of its RPC provider.
  it.each<[string, (response: ServerResponse) => unknown]>([
    ['refuses', (response) => refuse(response)],
    ['refuses and repeats the key', (response) => refuse(response, 'No project canary-key.')],
    ['asks for another key', (response) => response.writeHead(401).end('no')],
    ['is not an RPC server', (response) => response.end('<html>')],
    ['breaks connections', (response) => response.destroy()],
  ])('does not show the URL of an RPC server that %s in an error, however it is printed', async (_, answer) => {
    await withChain(
      (_request, response) => void answer(response),
      async (wallet) => {
        for (const ask of [
          () => wallet.sign({ to: address, data: '0x' }),
          () => wallet.broadcast(transaction),
          () => wallet.readOutcome(word),
          () => wallet.readNonceUse(address, 1),
          () => wallet.authorizations?.isExpired(address, authorization),
          () => wallet.permits?.isExpired(transfer),
          () => wallet.permits?.readAllowance(address),
        ]) {
          const error: unknown = await Promise.resolve(ask()).catch((thrown: unknown) => thrown);
          expect(error).toBeInstanceOf(PaymentError);
          const printed = inspect(error, { depth: null, showHidden: true });
          expect(printed).toContain('[cause]');
          expect(printed).not.toContain('canary');
        }
      },
    );
  });
});
