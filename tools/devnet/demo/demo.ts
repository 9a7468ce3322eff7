import { randomUUID } from 'node:crypto';

import {
  encodeProof,
  formatTokenAmount,
  IDEMPOTENCY_KEY,
  IDEMPOTENT_REPLAYED,
  parseChallenge,
  X_PAYMENT,
  X_PAYMENT_FAILURE,
  type PaymentRequirement,
} from '@tollgate/protocol';
import { createPublicClient, http, type Hex } from 'viem';

import type { Devnet } from '../chain/chain.js';
import { transferTokens } from '../chain/transfer-tokens.js';
import { playToEnd } from './play-to-end.js';
import { showExchange } from './show-exchange.js';
import { showHeading } from './show-job.js';

const SHOWN_HEADERS = {
  request: ['Host', X_PAYMENT, IDEMPOTENCY_KEY],
  answer: ['Content-Type', 'Cache-Control', 'Retry-After', X_PAYMENT_FAILURE, IDEMPOTENT_REPLAYED],
};

/** Shows one payment from the 402 to the refused second use. Resolves with the exit code. */
export function runDemo(): Promise<number> {
  return playToEnd(async ({ startServices }) => {
    const { baseUrl, chain } = await startServices();
    await playDemo(baseUrl, chain);
    console.log('\nEvery check passed.');
  });
}

async function playDemo(baseUrl: string, chain: Devnet): Promise<void> {
  const url = `${baseUrl}/api/weather`;
  const retryKey = randomUUID();

  showHeading(1, 'A request without payment gets a challenge');
  const unpaid = await ask(url);
  expectAnswer(unpaid, { status: 402, error: undefined });
  const [requirement] = parseChallenge(JSON.parse(unpaid.body)).accepts;
  if (!requirement) throw new Error('the challenge accepts nothing');

  showHeading(2, 'The client pays by a token transfer, locked to the reference of the challenge');
  const payer = chain.accounts[0];
  if (!payer) throw new Error('the devnet has no accounts');
  const txHash = await pay(chain, payer.address, requirement);
  const proofHeader = encodeProof({
    x402Version: 1,
    scheme: 'exact',
    network: requirement.network,
    payload: {
      txHash,
      amount: requirement.maxAmountRequired,
      from: payer.address,
      reference: requirement.extra.reference,
    },
  });

  showHeading(3, 'The same request with the proof gets the answer');
  const paid = await ask(url, { [X_PAYMENT]: proofHeader, [IDEMPOTENCY_KEY]: retryKey });
  expectAnswer(paid, { status: 200, error: undefined });

  showHeading(4, 'The same proof a second time, without its Idempotency-Key, is refused');
  const again = await ask(url, { [X_PAYMENT]: proofHeader });
  expectAnswer(again, { status: 402, error: 'Payment already used' });

  showHeading(5, 'The same proof with another Idempotency-Key is refused too');
  const stolen = await ask(url, { [X_PAYMENT]: proofHeader, [IDEMPOTENCY_KEY]: randomUUID() });
  expectAnswer(stolen, { status: 402, error: 'Payment already used' });

  showHeading(6, 'A client that paid and lost the answer gets it again with the same Idempotency-Key');
  const replayed = await ask(url, { [X_PAYMENT]: proofHeader, [IDEMPOTENCY_KEY]: retryKey });
  expectAnswer(replayed, { status: 200, error: undefined });
  if (replayed.headers.get(IDEMPOTENT_REPLAYED) !== 'true') throw new Error(`no ${IDEMPOTENT_REPLAYED} header came`);
  if (replayed.body !== paid.body) throw new Error('the repeated answer differs from the first one');
  console.log('\n  The body is the same as the first one, byte for byte.');
}

interface Answer {
  status: number;
  headers: Headers;
  body: string;
}

/** Sends a GET, and shows it with its answer. */
async function ask(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  const { pathname: path, host } = new URL(url);
  const response = await fetch(url, { headers });
  const { status } = response;
  const body = await response.text();
  const answer = { status, headers: Object.fromEntries(response.headers), body };
  showExchange({ request: { method: 'GET', path, headers: { host, ...headers } }, answer }, SHOWN_HEADERS);
  return { status, headers: response.headers, body };
}

function expectAnswer({ status, body }: Answer, expected: { status: number; error: string | undefined }): void {
  const { error } = JSON.parse(body) as { error?: unknown };
  if (status === expected.status && error === expected.error) return;
  const describe = (code: number, text: unknown) => `${code}${text === undefined ? '' : ` ${JSON.stringify(text)}`}`;
  throw new Error(`expected ${describe(expected.status, expected.error)}, got ${describe(status, error)}`);
}

async function pay(chain: Devnet, from: Hex, { asset, payTo, maxAmountRequired, extra }: PaymentRequirement) {
  const amountBaseUnits = BigInt(maxAmountRequired);
  const terms = { from, token: asset, to: payTo, amountBaseUnits, lockReference: extra.reference };
  const hash = await transferTokens(chain, terms);
  const receipt = await createPublicClient({ transport: http(chain.rpcUrl) }).getTransactionReceipt({ hash });
  console.log(`  transfer     ${formatTokenAmount(amountBaseUnits, 6)} ${extra.name} to ${payTo}`);
  console.log(`  transaction  ${hash}`);
  console.log(`  block        ${receipt.blockNumber}, ${receipt.status}`);
  if (receipt.status !== 'success') throw new Error('the transfer failed');
  return hash;
}
