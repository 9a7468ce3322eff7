import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { PaymentPicture } from '@tollgate/book';
import { createWallet, fetchWithPayment, MemoryPaymentStore, type TrustedAsset } from '@tollgate/client';
import {
  decodeJsonHeader,
  formatTokenAmount,
  methodOfScheme,
  ownField,
  PAYMENT_REQUIRED,
  PAYMENT_RESPONSE,
  type Hex,
  type PaymentRequiredV2,
} from '@tollgate/protocol';

import { OperatorApi } from '../../cli/book/operator-api.js';
import { readBalance } from '../chain/read-balance.js';
import { startTwoChains, type TwoChains } from '../chain/two-chains.js';
import { playToEnd } from '../demo/play-to-end.js';
import { showHeading, showTable } from '../demo/show-job.js';
import { createOperatorKey } from '../stack/create-operator-key.js';

const BOOKED_WITHIN_MS = 30_000;
const REFUNDED_WITHIN_MS = 60_000;
const MAX_HEADER_BYTES = 16_384;
/** Of a payment's name, which is long. */
const PAYMENT_LENGTH = 40;

/** Sells one resource on two chains in two tokens, pays one payment back, and compares both chains with the book. Resolves with the exit code. */
export function runChainsDemo(): Promise<number> {
  return playToEnd(async ({ keep, startServices }) => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-chains-demo-'));
    keep({ stop: () => Promise.resolve(rmSync(folder, { recursive: true, force: true })) });
    const chains = keep(await startTwoChains());
    const stack = await startServices({
      twoChains: chains,
      book: { folder, signingKey: randomBytes(32).toString('hex') },
      agentWorkers: 1,
      env: { SIGNED_PAYMENTS: 'true', RECONCILE_GRACE_SECONDS: '2' },
    });
    const url = `${stack.baseUrl}/api/weather`;
    const apiKey = await createOperatorKey(stack.redis.url);
    const operator = new OperatorApi({ operator: stack.bookkeeper?.url ?? '' }, { OPERATOR_API_KEY: apiKey });
    const tokens = listTokens(chains);

    showHeading(1, 'A request without payment is offered three tokens on two chains');
    await showOffers(url, tokens);

    showHeading(2, 'A client with a wallet on each chain buys it in the token that it prefers');
    const [first, , wdev] = tokens;
    if (!first || !wdev) throw new Error('two chains have three tokens');
    const inUsdc = await buy({ url, chains }, [first, wdev]);

    showHeading(
      3,
      'Where that token costs more than it allows, it says so, and buys in another one on the other chain',
    );
    const inWdev = await buy({ url, chains }, [{ ...first, maxAmount: '0.0001' }, wdev]);

    showHeading(4, 'Each payment is in the book in its own token');
    const [, sold] = [await waitForPayment(operator, inUsdc), await waitForPayment(operator, inWdev)];
    const { payments } = await operator.ask('GET /operator/payments', { query: {} });
    showTable(
      ['PAYMENT', 'STATE', 'AMOUNT'],
      payments.map(({ id, state, network, asset, amount }) => [
        `${id.slice(0, PAYMENT_LENGTH)}…`,
        state,
        showAmount(tokens, `${network}:${asset}`, BigInt(amount ?? 0)),
      ]),
    );

    showHeading(5, 'The one in WDEV is paid back, on its chain and in its token');
    await refund(operator, sold, wdev, chains);

    showHeading(6, 'Book and chain agree on both chains, in each token');
    await reconcile(operator, tokens);
    console.log('\nEvery check passed.');
  });
}

interface ShownToken extends TrustedAsset {
  symbol: string;
}

function listTokens({ first, second }: TwoChains): ShownToken[] {
  const usdc = { symbol: 'USDC', decimals: 6 };
  return [
    { ...usdc, network: 'chain-testnet', chainId: first.chainId, address: first.asset },
    { ...usdc, network: 'chain-testnet-2', chainId: second.chainId, address: second.asset },
    { symbol: 'WDEV', decimals: 18, network: 'chain-testnet-2', chainId: second.chainId, address: second.plainToken },
  ];
}

/** `name`: the chain as CAIP-2 has it, a colon and the token. */
function showAmount(tokens: readonly ShownToken[], name: string, amountBaseUnits: bigint): string {
  const [address = '', chain = ''] = name.split(':').reverse();
  const token = tokens.find(
    (one) => String(one.chainId) === chain && one.address.toLowerCase() === address.toLowerCase(),
  );
  if (token === undefined) throw new Error(`no option is in the token ${name}`);
  return `${formatTokenAmount(amountBaseUnits, token.decimals)} ${token.symbol} on chain ${chain}`;
}

async function showOffers(url: string, tokens: readonly ShownToken[]): Promise<void> {
  const { status, headers } = await fetch(url);
  if (status !== 402) throw new Error(`expected 402, got ${status}`);
  const { accepts } = decodeJsonHeader(
    headers.get(PAYMENT_REQUIRED) ?? '',
    MAX_HEADER_BYTES,
  ) as unknown as PaymentRequiredV2;
  showTable(
    ['PRICE', 'SIGNED BY'],
    accepts.map(({ network, asset, amount, extra }) => [
      showAmount(tokens, `${network}:${asset}`, BigInt(amount)),
      String((extra['assetTransferMethod'] as string | undefined) ?? methodOfScheme('exact')?.transferMethod),
    ]),
  );
  if (accepts.length !== tokens.length) throw new Error(`${accepts.length} offers, and not ${tokens.length}`);
}

/** Returns the hash of the transaction that settled the payment. */
async function buy({ url, chains }: { url: string; chains: TwoChains }, assets: readonly TrustedAsset[]): Promise<Hex> {
  const wallets = [chains.first, chains.second].map(({ accounts, rpcUrl, chainId }) => {
    const [payer] = accounts;
    if (!payer) throw new Error('the devnet has no accounts');
    return createWallet({ account: payer.privateKey, rpcUrl, chainId });
  });
  const payingFetch = fetchWithPayment(fetch, wallets, {
    assets,
    maxAmount: '0.01',
    // Permit2 moves WDEV, which has no signatures of its own.
    permit2Allowance: '1',
    store: new MemoryPaymentStore(),
    onEvent: (event) => {
      if (event.type === 'skipped') console.log(`  not paid: ${event.problem.message}`);
      if (event.type === 'intended')
        console.log(
          `  paying ${event.price} ${event.payment.requirement.extra.name} on chain ${event.payment.chainId}`,
        );
    },
  });
  const response = await payingFetch(url);
  if (response.status !== 200) throw new Error(`expected 200, got ${response.status}: ${await response.text()}`);
  const transaction = ownField(
    decodeJsonHeader(response.headers.get(PAYMENT_RESPONSE) ?? '', MAX_HEADER_BYTES),
    'transaction',
  );
  if (typeof transaction !== 'string') throw new Error('the receipt names no transaction');
  console.log(`  200, settled by ${transaction}\n  ${(await response.text()).slice(0, 90)}…`);
  return transaction as Hex;
}

/** The payment of a transaction, once it is in the book. */
async function waitForPayment(operator: OperatorApi, transaction: Hex): Promise<PaymentPicture> {
  for (const untilMs = Date.now() + BOOKED_WITHIN_MS; Date.now() < untilMs; await sleep(100)) {
    const { payments } = await operator.ask('GET /operator/payments', { query: { transaction } });
    if (payments[0]?.state === 'answered') return operator.ask('GET /operator/payments/:id', { id: payments[0].id });
  }
  throw new Error(`the payment of ${transaction} is not in the book as answered`);
}

async function refund(
  operator: OperatorApi,
  { id, amount, payer }: PaymentPicture,
  token: ShownToken,
  { second }: TwoChains,
): Promise<void> {
  const place = { rpcUrl: second.rpcUrl, asset: token.address };
  const before = await readBalance(place, payer as Hex);
  const asked = await operator.ask('POST /operator/refunds', { body: { payment: id, answered: true } });
  for (const untilMs = Date.now() + REFUNDED_WITHIN_MS; ; await sleep(200)) {
    const { state, detail } = await operator.ask('GET /operator/refunds/:id', { id: asked.id });
    if (state === 'refunded') break;
    if (state === 'failed' || Date.now() > untilMs) throw new Error(`the refund is ${state}: ${detail}`);
  }
  const paidBack = (await readBalance(place, payer as Hex)) - before;
  console.log(`  ${formatTokenAmount(paidBack, token.decimals)} ${token.symbol} to ${payer} on chain ${token.chainId}`);
  if (String(paidBack) !== amount) throw new Error(`${paidBack} was paid back, and not ${amount}`);
}

/** Once everything is compared; throws where a chain and the book differ. */
async function reconcile(operator: OperatorApi, tokens: readonly ShownToken[]): Promise<void> {
  for (const untilMs = Date.now() + BOOKED_WITHIN_MS; ; await sleep(100)) {
    const answer = await operator.ask('GET /operator/reconcile', {});
    const { scopes, chainOnly, bookOnly, different } = answer;
    const differences = [...chainOnly, ...bookOnly, ...different];
    const waiting = scopes.reduce((sum, { waiting: { transfers, payments } }) => sum + transfers + payments, 0);
    const isRead = scopes.length === tokens.length && scopes.every(({ block }) => block !== null);
    if (isRead && waiting + differences.length === 0) {
      showTable(
        ['CHAIN', 'TOKEN', 'BLOCKS', 'DIFFERENCES'],
        scopes.map((one) => [
          String(one.chainId),
          tokens.find(({ address }) => address.toLowerCase() === one.asset.toLowerCase())?.symbol ?? one.asset,
          `${one.firstBlock} to ${one.block}`,
          '0',
        ]),
      );
      return;
    }
    if (Date.now() > untilMs) throw new Error(`chains and book differ: ${JSON.stringify(answer)}`);
  }
}
