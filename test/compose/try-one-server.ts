import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv, promisify } from 'node:util';

import { encodeJsonHeader, X_PAYMENT, X_PAYMENT_RESPONSE, type Hex } from '@tollgate/protocol';
import { toHex } from 'viem';

import { deriveAgentWallet, derivePayer, deriveRelayer } from '../../tools/devnet/chain/chain.js';
import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import { createAgentClient } from '../harness/agents/agent-client.js';
import { expectWholeBook, type AskOperator } from '../harness/agents/operator-client.js';
import { waitFor } from '../harness/retry.js';
import { assert, step, type ComposeStack } from './compose-stack.js';
import { tryAgentJobs } from './try-agent-jobs.js';

const OWN_PRICE = '0.002';
const OWN_PRICE_BASE_UNITS = 2000;
/** Every so many jobs one of the two agent workers is killed. */
const KILL_EVERY = 6;
let dead: string | undefined;

/**
 * Buys an answer, kills a verifier, buys another, buys one with a signed payment, and runs a job of each kind while agent
 * workers are killed; then uses a stack with an environment file, a wallet and a relayer of its own.
 */
export async function tryOneServer(stack: ComposeStack): Promise<void> {
  step('build and start: redis, devnet, gateway, two verifiers, two agent workers');
  await stack.up('--build', '--scale', 'verifier=2');
  step('wait until every service is healthy');
  const once = ['redis', 'postgres', 'devnet', 'gateway', 'bookkeeper'];
  await stack.waitUntilHealthy([...once, 'verifier', 'verifier', 'agent-worker', 'agent-worker']);

  step('an unpaid request gets a challenge');
  const unpaid = await fetch(`${stack.gateway}/api/weather`);
  assert(unpaid.status === 402, `status ${unpaid.status}, not 402`);

  step('a payment buys the answer, and the same key gives it again without another payment');
  const bought = await pay(stack, 'compose-1');
  const repeated = await pay(stack, 'compose-1');
  assert(bought === repeated, 'the repeat got another answer');
  assert('temperature' in (JSON.parse(bought) as object), `unexpected answer: ${bought}`);

  step('the ledger holds one spent payment');
  const ledger = stack.exec('verifier', 'tollgate', 'payments', 'list', '--json');
  assert((ledger.match(/"txHash"/g) ?? []).length === 1, `the ledger says: ${ledger}`);

  step('with one verifier killed, the next payment is served');
  const [victim = ''] = stack.containersOf('verifier');
  stack.docker('kill', '--signal', 'KILL', victim);
  const second = await pay(stack, 'compose-2');
  assert(second !== bought, 'the second purchase got the first one’s answer');

  step('a payment that is only signed buys an answer, and is settled by the relayer');
  await payBySignature(stack);

  step('the book has the three payments');
  const askBook = stack.connectOperator();
  await waitUntilBooked(askBook, 3);

  step("only the agent workers have the wallets' keys, and only the verifiers the relayer's key");
  for (const service of ['gateway', 'verifier', 'redis']) assertNoKeys(stack, service);
  for (const service of ['gateway', 'agent-worker', 'redis']) assertNoRelayer(stack, service);

  step('a job of each kind, with the agent workers killed in turn');
  const apiKey = stack.createApiKey('devnet');
  await tryAgentJobs({
    gateway: stack.gateway,
    rpcUrl: stack.rpcUrl,
    apiKey,
    disturb: (jobNumber) => killWorkerAt(stack, jobNumber),
  });

  step('chain and book agree in every transfer and transaction, and the hash chain of the book is whole');
  const { firstBlock, block } = await expectWholeBook(askBook);
  console.log(`    blocks ${firstBlock} to ${block}: 0 differences`);

  await stack.down();
  step(
    'start again with an environment file of one’s own, made from .env.example, a wallet and a relayer of one’s own',
  );
  stack.env['TOLLGATE_ENV_FILE'] = writeOwnEnvironment(stack);
  stack.env['AGENT_WALLETS'] = writeOwnFolder(stack, 'wallets', {
    'own.key': deriveAgentWallet(1).privateKey,
    'wallets.yaml': 'wallets:\n  own: { privateKeyFile: own.key }\n',
  });
  stack.env['RELAYER_KEYS'] = writeOwnFolder(stack, 'relayer', { 'own-key': deriveRelayer(1).privateKey });
  await stack.up();
  const adopt = ['tollgate', 'wallets', 'adopt', 'own', '--address', deriveAgentWallet(1).address];
  console.log(stack.exec('agent-worker', ...adopt));
  await stack.waitUntilHealthy(['redis', 'devnet', 'gateway', 'verifier', 'agent-worker', 'agent-worker']);

  step('its challenge asks what that file says, and a payment buys the answer');
  const challenge = await (await fetch(`${stack.gateway}/api/weather`)).text();
  assert(challenge.includes(`"maxAmountRequired":"${OWN_PRICE_BASE_UNITS}"`), `the challenge says: ${challenge}`);
  await pay(stack, 'compose-own');
  await payBySignature(stack, OWN_PRICE_BASE_UNITS);

  step('a job of its wallet is carried out');
  const own = createAgentClient(stack.gateway, stack.createApiKey('own'));
  const input = { amount: '1', to: deriveAgentWallet(2).address };
  await own.waitFor(await own.submit({ operation: 'transfer', wallet: 'own', input }), 'FINAL');
}

/** Waits until the book has so many answered payments. */
async function waitUntilBooked(ask: AskOperator, payments: number): Promise<void> {
  await waitFor('the payments are in the book', async () => {
    const { payments: booked } = JSON.parse(await ask('payments?state=answered')) as { payments: unknown[] };
    return booked.length === payments;
  });
}

/** Kills one of the two workers while a job is in progress, and starts the one that was killed before. */
async function killWorkerAt(stack: ComposeStack, jobNumber: number): Promise<void> {
  if (jobNumber % KILL_EVERY !== KILL_EVERY - 2) return;
  const workers = stack.containersOf('agent-worker');
  const victim = workers.find((id) => id !== dead) ?? '';
  if (dead !== undefined) {
    stack.docker('start', dead);
    await stack.waitUntilHealthy(['agent-worker', 'agent-worker']);
  }
  console.log(`    kill -9 of agent worker ${victim.slice(0, 12)}`);
  stack.docker('kill', '--signal', 'KILL', victim);
  dead = victim;
}

function assertNoKeys(stack: ComposeStack, service: string): void {
  for (const id of stack.containersOf(service)) {
    const mounts = stack.docker('inspect', '-f', '{{range .Mounts}}{{.Destination}} {{end}}{{.Config.Env}}', id);
    const others = mounts.replace('DEVNET_WALLET=true', '').replace(/RELAYER_PRIVATE_KEYS_FILE=\S+/, '');
    assert(!/wallet|PRIVATE_KEY/i.test(others), `${service} has: ${mounts}`);
  }
}

function assertNoRelayer(stack: ComposeStack, service: string): void {
  for (const id of stack.containersOf(service)) {
    const mounts = stack.docker('inspect', '-f', '{{range .Mounts}}{{.Destination}} {{end}}', id);
    assert(!mounts.includes('/run/relayer'), `${service} has: ${mounts}`);
  }
}

/** `.env.example` filled in as a user would: the devnet's values, a secret and another price. */
function writeOwnEnvironment(stack: ComposeStack): string {
  const devnet = parseEnv(readFileSync('deploy/devnet.env', 'utf8'));
  const own = new Map(
    Object.entries({
      ...devnet,
      CHALLENGE_SECRET: toHex(randomBytes(32)),
      AGENT_SECRET: toHex(randomBytes(32)),
      WEATHER_PRICE: OWN_PRICE,
    }),
  );
  const filledIn = readFileSync('.env.example', 'utf8').replace(/^(?:# )?([A-Z_]+)=.*$/gm, (line, name: string) => {
    const value = own.get(name);
    return value === undefined ? line : `${name}=${value}`;
  });
  const file = join(stack.folder, '.env');
  const relayer = 'RELAYER_PRIVATE_KEYS_FILE=/run/relayer/own-key\n';
  writeFileSync(file, filledIn + relayer, { mode: 0o600 });
  return file;
}

/** A folder as the services mount it; their user must be able to read it. */
function writeOwnFolder(stack: ComposeStack, name: string, files: Record<string, string>): string {
  const folder = join(stack.folder, name);
  mkdirSync(folder);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return folder;
}

/** Buys the weather with the first devnet account and returns the answer's body. */
async function pay(stack: ComposeStack, idempotencyKey: string): Promise<string> {
  const args = [
    ...['--import', 'tsx', 'tools/cli/main.ts', 'pay', `${stack.gateway}/api/weather`, '--max', '0.01'],
    ...['--rpc', stack.rpcUrl, '--rpc-timeout', '60'],
    ...['--store', stack.folder, '--idempotency-key', idempotencyKey],
  ];
  const env = { ...process.env, WALLET_PRIVATE_KEY: derivePayer(0).privateKey };
  // Where it fails, the error has what it wrote to stderr.
  return (await promisify(execFile)(process.execPath, args, { env })).stdout;
}

/** Buys the weather with a payment that the second devnet account signs. */
async function payBySignature(stack: ComposeStack, priceBaseUnits = 1000): Promise<void> {
  const { CHAIN_ID, NETWORK, ASSET_ADDRESS, PAY_TO } = parseEnv(readFileSync('deploy/devnet.env', 'utf8'));
  const chain = { chainId: Number(CHAIN_ID), asset: ASSET_ADDRESS as Hex, payTo: PAY_TO as Hex };
  const { signature, authorization } = await signAuthorization(chain, derivePayer(1), {
    value: String(priceBaseUnits),
  });
  const payload = { x402Version: 1, scheme: 'exact', network: NETWORK, payload: { signature, authorization } };
  const answer = await fetch(`${stack.gateway}/api/weather`, { headers: { [X_PAYMENT]: encodeJsonHeader(payload) } });
  assert(answer.status === 200, `a signed payment got ${answer.status}: ${await answer.text()}`);
  const settled = Buffer.from(answer.headers.get(X_PAYMENT_RESPONSE) ?? '', 'base64').toString();
  assert(/"transaction":"0x[0-9a-f]{64}"/.test(settled), `it was settled as: ${settled}`);
}
