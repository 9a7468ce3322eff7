import { startPaidServer } from '../../test/paid-server.js';
import { useChain, useMade, useOpened, useTransferCount } from '../../test/set-up.js';
import { startSigningShop } from '../../test/signing-shop.js';
import { createWallet } from '../account/create-wallet.js';
import type { AuthorizationSigner } from '../account/signers.js';
import type { Wallet } from '../account/wallet.js';
import { sleep } from '../network/sleep.js';
import { MemoryPaymentStore } from '../store/payment-store.js';
import { fetchWithPayment } from './fetch-with-payment.js';

/** As with a person at a wallet, who is asked to confirm. */
describe('a signature that comes later than the offer is valid', () => {
  const VALID_SECONDS = 2;
  const chain = useChain();
  const open = useOpened();
  const store = useMade(() => new MemoryPaymentStore());
  /** How many of the next signatures are late, and how many were made. */
  let late: number;
  let signed: number;
  const payer = () => chain.accounts[4]!;
  const transfers = useTransferCount(chain, () => payer().address);

  beforeEach(async () => {
    [late, signed] = [1, 0];
  });

  function createPaying(onLate: () => void) {
    const { rpcUrl, chainId, asset: address } = chain;
    const wallet = createWallet({ account: payer().privateKey, rpcUrl, chainId });
    const confirm = async (): Promise<void> => {
      signed += 1;
      if (late === 0) return;
      late -= 1;
      const endMs = Date.now() + VALID_SECONDS * 1000;
      while (Date.now() <= endMs) await sleep(50, null);
      onLate();
    };
    const { authorizations } = wallet as Wallet & { authorizations: AuthorizationSigner };
    const slow: Wallet = {
      address: wallet.address,
      chainId,
      inTurn: (work) => wallet.inTurn(work),
      sign: (call) => confirm().then(() => wallet.sign(call)),
      broadcast: (transaction) => wallet.broadcast(transaction),
      readOutcome: (txHash) => wallet.readOutcome(txHash),
      readNonceUse: (from, nonce) => wallet.readNonceUse(from, nonce),
      authorizations: {
        sign: (token, authorization) => confirm().then(() => authorizations.sign(token, authorization)),
        isExpired: (asset, authorization) => authorizations.isExpired(asset, authorization),
        readDomain: (asset) => authorizations.readDomain(asset),
      },
    };
    const assets = [{ network: 'chain-testnet', chainId, address, decimals: 6 }];
    // Shorter than the signing: only the time from the signature to the answer counts.
    return fetchWithPayment(fetch, slow, { assets, maxAmount: '0.001', store, deadlineMs: VALID_SECONDS * 1000 });
  }
  const stateOf = async () => (await store.list()).map(({ payment: { state } }) => state);

  it('is dropped, and another one is made and sent', async () => {
    const shop = await open(startSigningShop(chain, 2));
    shop.offer = { maxTimeoutSeconds: VALID_SECONDS };
    const pay = createPaying(() => (shop.offer = {}));
    expect(await (await pay(shop.url)).text()).toBe('the goods');
    expect([signed, shop.shown.length, await transfers(), await stateOf()]).toEqual([2, 1, 1, ['redeemed']]);
  });

  it('of a transfer is dropped before it is sent', async () => {
    const server = await open(startPaidServer(chain));
    server.challenge = { maxTimeoutSeconds: VALID_SECONDS };
    const pay = createPaying(() => (server.challenge = {}));
    expect((await pay(server.url)).status).toBe(200);
    expect([signed, server.paid().length, await transfers(), await stateOf()]).toEqual([2, 1, 1, ['redeemed']]);
  });

  it('is not made for ever', async () => {
    const shop = await open(startSigningShop(chain, 2));
    shop.offer = { maxTimeoutSeconds: VALID_SECONDS };
    late = 3;
    const failure = await createPaying(() => undefined)(shop.url).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'cannot_pay', message: expect.stringContaining('later than the offer') });
    expect([signed, shop.shown, await transfers(), await stateOf()]).toEqual([3, [], 0, ['abandoned']]);
  });
});
