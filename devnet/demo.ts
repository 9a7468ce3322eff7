import { randomUUID } from 'node:crypto';

import {
  appendHashLock,
  encodeProof,
  formatTokenAmount,
  IDEMPOTENT_REPLAYED,
  parseChallenge,
  type PaymentRequirement,
} from '@tollgate/protocol';
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  erc20Abi,
  http,
  type Hex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

import type { Devnet } from './chain.js';
import { openRedis } from './redis.js';
import { paidHeaders, showExchange, type Exchange } from './show-exchange.js';
import { startStack } from './stack.js';
import { waitForStopRequest } from './stop-request.js';
import { waitUntilMined } from './transfer-tokens.js';

/** Shows one payment from the 402 to the refused second use. Resolves with the exit code. */
export async function runDemo(): Promise<number> {
  const stopRequest = waitForStopRequest();
  const redis = await openRedis(process.env['REDIS_URL']);
  const starting = startStack({ redis, onReady: (part, url) => console.log(`✓ ${part} at ${url}`) });
  try {
    const first = await Promise.race([starting, stopRequest]);
    if (typeof first === 'string') return 130;
    const end = await Promise.race([playDemo(first.baseUrl, first.chain), stopRequest]);
    if (end !== undefined) return 130;
    console.log('\nEvery check passed. `npm run dev` runs the same stack for you to try;');
    console.log('`npm run demo -- interop` shows published x402 and MPP clients paying with signatures, and');
    console.log('`npm run demo -- jobs` shows agent jobs that send transactions.');
    return 0;
  } catch (error) {
    console.error(`\n✗ ${error instanceof Error ? error.message : String(error)}`);
    const logs = await starting.then(({ logs }) => logs()).catch(() => '');
    if (logs !== '') console.error(`\nThe last lines of the processes:\n${logs}`);
    return 1;
  } finally {
    await starting.then(
      ({ stop }) => stop(),
      () => undefined,
    );
    await redis.stop();
  }
}

async function playDemo(baseUrl: string, chain: Devnet): Promise<void> {
  const url = `${baseUrl}/api/weather`;
  const retryKey = randomUUID();

  heading(1, 'A request without payment gets a challenge');
  const unpaid = await showExchange(url);
  expectAnswer(unpaid, { status: 402, error: undefined });
  const [requirement] = parseChallenge(unpaid.body).accepts;
  if (!requirement) throw new Error('the challenge accepts nothing');

  heading(2, 'The client pays by a token transfer, locked to the reference of the challenge');
  const payer = chain.accounts[0];
  if (!payer) throw new Error('the devnet has no accounts');
  const txHash = await pay(chain, payer.privateKey, requirement);
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

  heading(3, 'The same request with the proof gets the answer');
  const paid = await showExchange(url, paidHeaders(proofHeader, retryKey));
  expectAnswer(paid, { status: 200, error: undefined });

  heading(4, 'The same proof a second time, without its Idempotency-Key, is refused');
  const again = await showExchange(url, paidHeaders(proofHeader));
  expectAnswer(again, { status: 402, error: 'Payment already used' });

  heading(5, 'The same proof with another Idempotency-Key is refused too');
  const stolen = await showExchange(url, paidHeaders(proofHeader, randomUUID()));
  expectAnswer(stolen, { status: 402, error: 'Payment already used' });

  heading(6, 'A client that paid and lost the answer gets it again with the same Idempotency-Key');
  const replayed = await showExchange(url, paidHeaders(proofHeader, retryKey));
  expectAnswer(replayed, { status: 200, error: undefined });
  if (replayed.headers.get(IDEMPOTENT_REPLAYED) !== 'true') throw new Error(`no ${IDEMPOTENT_REPLAYED} header came`);
  if (replayed.text !== paid.text) throw new Error('the repeated answer differs from the first one');
  console.log('\n  The body is the same as the first one, byte for byte.');
}

function heading(number: number, title: string): void {
  console.log(`\n━━ ${number}. ${title}\n`);
}

function expectAnswer({ status, body }: Exchange, expected: { status: number; error: string | undefined }): void {
  const { error } = body as { error?: unknown };
  if (status === expected.status && error === expected.error) return;
  const describe = (code: number, text: unknown) => `${code}${text === undefined ? '' : ` ${JSON.stringify(text)}`}`;
  throw new Error(`expected ${describe(expected.status, expected.error)}, got ${describe(status, error)}`);
}

async function pay(devnet: Devnet, privateKey: Hex, requirement: PaymentRequirement): Promise<Hex> {
  const chain = defineChain({
    id: devnet.chainId,
    name: 'devnet',
    nativeCurrency: { name: 'Coin', symbol: 'COIN', decimals: 18 },
    rpcUrls: { default: { http: [devnet.rpcUrl] } },
  });
  const wallet = createWalletClient({ account: privateKeyToAccount(privateKey), chain, transport: http() });
  const reader = createPublicClient({ chain, transport: http() });
  const amount = BigInt(requirement.maxAmountRequired);
  const call = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [requirement.payTo, amount] });
  const hash = await wallet.sendTransaction({
    to: requirement.asset,
    data: appendHashLock(call, requirement.extra.reference),
  });
  // viem's own wait looks again at the next block, and on a quiet chain there is none.
  await waitUntilMined(devnet, hash);
  const receipt = await reader.getTransactionReceipt({ hash });
  console.log(`  transfer     ${formatTokenAmount(amount, 6)} ${requirement.extra.name} to ${requirement.payTo}`);
  console.log(`  transaction  ${hash}`);
  console.log(`  block        ${receipt.blockNumber}, ${receipt.status}`);
  if (receipt.status !== 'success') throw new Error('the transfer failed');
  return hash;
}
