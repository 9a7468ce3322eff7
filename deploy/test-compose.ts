/**
 * Starts the compose stack with its devnet, buys an answer, kills a verifier, buys another, buys one with a signed
 * payment, runs a job of each kind while agent workers are killed, and stops everything; then uses a stack with an
 * environment file, a wallet and a relayer of its own. Run by `npm run test:compose`; needs a Docker engine.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

import { encodeJsonHeader, X_PAYMENT, X_PAYMENT_RESPONSE, type Hex } from '@tollgate/protocol';
import { toHex } from 'viem';

import { createAgentClient } from '../test/harness/agent-client.js';
import { deriveAgentWallet, derivePayer, deriveRelayer } from '../tools/devnet/chain/chain.js';
import { signAuthorization } from '../tools/devnet/chain/sign-authorization.js';
import { findFreePort } from '../tools/devnet/processes/free-port.js';
import { tryAgentJobs } from './try-agent-jobs.js';

const READY_WITHIN_MS = 120_000;
const OWN_PRICE = '0.002';
const OWN_PRICE_BASE_UNITS = 2000;
/** Every so many jobs one of the two agent workers is killed. */
const KILL_EVERY = 6;
let dead: string | undefined;

const [port, devnetPort] = await Promise.all([findFreePort(), findFreePort()]);
const gateway = `http://127.0.0.1:${port}`;
const env: NodeJS.ProcessEnv = {
  ...process.env,
  PORT: String(port),
  DEVNET_PORT: String(devnetPort),
  COMPOSE_PROJECT_NAME: `tollgate-test-${process.pid}`,
};
const store = mkdtempSync(join(tmpdir(), 'tollgate-compose-'));
const compose = findCompose();

let failed = true;
try {
  step('build and start: redis, devnet, gateway, two verifiers, two agent workers');
  await run([...compose, '--profile', 'devnet', 'up', '--detach', '--build', '--scale', 'verifier=2']);
  step('wait until every service is healthy');
  await waitUntilHealthy(['redis', 'devnet', 'gateway', 'verifier', 'verifier', 'agent-worker', 'agent-worker']);

  step('an unpaid request gets a challenge');
  const unpaid = await fetch(`${gateway}/api/weather`);
  assert(unpaid.status === 402, `status ${unpaid.status}, not 402`);

  step('a payment buys the answer, and the same key gives it again without another payment');
  const bought = await pay('compose-1');
  const repeated = await pay('compose-1');
  assert(bought === repeated, 'the repeat got another answer');
  assert('temperature' in (JSON.parse(bought) as object), `unexpected answer: ${bought}`);

  step('the ledger holds one spent payment');
  const ledger = capture([...compose, 'exec', '-T', 'verifier', 'tollgate', 'payments', 'list', '--json']);
  assert((ledger.match(/"txHash"/g) ?? []).length === 1, `the ledger says: ${ledger}`);

  step('with one verifier killed, the next payment is served');
  const [victim = ''] = containersOf('verifier');
  capture(['docker', 'kill', '--signal', 'KILL', victim]);
  const second = await pay('compose-2');
  assert(second !== bought, 'the second purchase got the first one’s answer');

  step('a payment that is only signed buys an answer, and is settled by the relayer');
  await payBySignature();

  step("only the agent workers have the wallets' keys, and only the verifiers the relayer's key");
  for (const service of ['gateway', 'verifier', 'redis']) assertNoKeys(service);
  for (const service of ['gateway', 'agent-worker', 'redis']) assertNoRelayer(service);

  step('a job of each kind, with the agent workers killed in turn');
  const apiKey = createApiKey('devnet');
  await tryAgentJobs({ gateway, rpcUrl: `http://127.0.0.1:${devnetPort}`, apiKey, disturb: killWorkerAt });

  await takeDown();
  step(
    'start again with an environment file of one’s own, made from .env.example, a wallet and a relayer of one’s own',
  );
  env['TOLLGATE_ENV_FILE'] = writeOwnEnvironment();
  env['AGENT_WALLETS'] = writeOwnFolder('wallets', {
    'own.key': deriveAgentWallet(1).privateKey,
    'wallets.yaml': 'wallets:\n  own: { privateKeyFile: own.key }\n',
  });
  env['RELAYER_KEYS'] = writeOwnFolder('relayer', { 'own-key': deriveRelayer(1).privateKey });
  await run([...compose, '--profile', 'devnet', 'up', '--detach']);
  const wallets = ['exec', '-T', 'agent-worker', 'tollgate', 'wallets'];
  console.log(capture([...compose, ...wallets, 'adopt', 'own', '--address', deriveAgentWallet(1).address]));
  await waitUntilHealthy(['redis', 'devnet', 'gateway', 'verifier', 'agent-worker', 'agent-worker']);

  step('its challenge asks what that file says, and a payment buys the answer');
  const challenge = await (await fetch(`${gateway}/api/weather`)).text();
  assert(challenge.includes(`"maxAmountRequired":"${OWN_PRICE_BASE_UNITS}"`), `the challenge says: ${challenge}`);
  await pay('compose-own');
  await payBySignature(OWN_PRICE_BASE_UNITS);

  step('a job of its wallet is carried out');
  const own = createAgentClient(gateway, createApiKey('own'));
  const input = { amount: '1', to: deriveAgentWallet(2).address };
  await own.waitFor(await own.submit({ operation: 'transfer', wallet: 'own', input }), 'FINAL');
  failed = false;
  console.log('\ncompose: all well');
} finally {
  if (failed) spawnSync(compose[0] ?? '', [...compose.slice(1), 'logs', '--tail', '40'], { env, stdio: 'inherit' });
  await takeDown().catch(console.error);
  rmSync(store, { recursive: true });
}

async function takeDown(): Promise<void> {
  step('take everything down');
  await run([...compose, '--profile', 'devnet', 'down', '--volumes', '--timeout', '30']);
}

/** The commands that `docker-compose.yml` shows to newcomers. */
function createApiKey(wallet: string): string {
  const args = ['create', '--name', 'compose', '--scope', 'submit,read', '--wallet', wallet, '--json'];
  const output = capture([...compose, 'exec', '-T', 'gateway', 'tollgate', 'keys', ...args]);
  const token = /tgk_\w+_[\w-]+/.exec(output)?.[0];
  assert(token !== undefined, `no API key was made: ${output}`);
  return token;
}

/** Kills one of the two workers while a job is in progress, and starts the one that was killed before. */
async function killWorkerAt(jobNumber: number): Promise<void> {
  if (jobNumber % KILL_EVERY !== KILL_EVERY - 2) return;
  const workers = containersOf('agent-worker');
  const victim = workers.find((id) => id !== dead) ?? '';
  if (dead !== undefined) {
    capture(['docker', 'start', dead]);
    await waitUntilHealthy(['agent-worker', 'agent-worker']);
  }
  console.log(`    kill -9 of agent worker ${victim.slice(0, 12)}`);
  capture(['docker', 'kill', '--signal', 'KILL', victim]);
  dead = victim;
}

function assertNoKeys(service: string): void {
  for (const id of containersOf(service)) {
    const mounts = capture(['docker', 'inspect', '-f', '{{range .Mounts}}{{.Destination}} {{end}}{{.Config.Env}}', id]);
    const others = mounts.replace('DEVNET_WALLET=true', '').replace(/RELAYER_PRIVATE_KEYS_FILE=\S+/, '');
    assert(!/wallet|PRIVATE_KEY/i.test(others), `${service} has: ${mounts}`);
  }
}

function assertNoRelayer(service: string): void {
  for (const id of containersOf(service)) {
    const mounts = capture(['docker', 'inspect', '-f', '{{range .Mounts}}{{.Destination}} {{end}}', id]);
    assert(!mounts.includes('/run/relayer'), `${service} has: ${mounts}`);
  }
}

/** `.env.example` filled in as a user would: the devnet's values, a secret and another price. */
function writeOwnEnvironment(): string {
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
  const file = join(store, '.env');
  const relayer = 'RELAYER_PRIVATE_KEYS_FILE=/run/relayer/own-key\n';
  writeFileSync(file, filledIn + relayer, { mode: 0o600 });
  return file;
}

/** A folder as the services mount it; their user must be able to read it. */
function writeOwnFolder(name: string, files: Record<string, string>): string {
  const folder = join(store, name);
  mkdirSync(folder);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return folder;
}

function step(text: string): void {
  console.log(`\n» ${text}`);
}

function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** Compose is a plugin of docker or, in older versions, a program of its own. */
function findCompose(): string[] {
  const kinds = [['docker', 'compose'], ['docker-compose']];
  const found = kinds.find(([command = '', ...args]) => spawnSync(command, [...args, 'version']).status === 0);
  if (found === undefined || spawnSync('docker', ['info']).status !== 0) {
    console.error('This test needs Docker: a running engine, and docker compose (or docker-compose) on the PATH.');
    process.exit(1);
  }
  return found;
}

async function run([command = '', ...args]: string[]): Promise<void> {
  const child = spawn(command, args, { env, stdio: ['ignore', 'inherit', 'inherit'] });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  assert(code === 0, `${command} ${args.join(' ')} ended with ${String(code)}`);
}

function capture([command = '', ...args]: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { env, encoding: 'utf8' });
  assert(status === 0, `${command} ${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}

function containersOf(service: string): string[] {
  return capture([...compose, '--profile', 'devnet', 'ps', '-q', service])
    .split('\n')
    .filter(Boolean);
}

async function waitUntilHealthy(services: string[]): Promise<void> {
  const expected = services.length;
  for (const endsAtMs = Date.now() + READY_WITHIN_MS; ; await new Promise((resolve) => setTimeout(resolve, 1000))) {
    const containers = [...new Set(services)].flatMap(containersOf);
    const health = containers.map((id) => capture(['docker', 'inspect', '-f', '{{.State.Health.Status}}', id]).trim());
    if (health.filter((status) => status === 'healthy').length === expected) return;
    assert(Date.now() < endsAtMs, `not healthy within ${READY_WITHIN_MS} ms: ${health.join(', ')}`);
  }
}

/** Buys the weather with the first devnet account and returns the answer's body. */
async function pay(idempotencyKey: string): Promise<string> {
  const child = spawn(
    process.execPath,
    [
      ...['--import', 'tsx', 'tools/cli/main.ts', 'pay', `${gateway}/api/weather`, '--max', '0.01'],
      ...['--rpc', `http://127.0.0.1:${devnetPort}`, '--rpc-timeout', '60'],
      ...['--store', store, '--idempotency-key', idempotencyKey],
    ],
    { env: { ...process.env, WALLET_PRIVATE_KEY: derivePayer(0).privateKey }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let body = '';
  child.stdout.on('data', (chunk: Buffer) => (body += chunk.toString()));
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert(code === 0, `pay ended with ${String(code)}`);
  return body;
}

/** Buys the weather with a payment that the second devnet account signs. */
async function payBySignature(priceBaseUnits = 1000): Promise<void> {
  const { CHAIN_ID, NETWORK, ASSET_ADDRESS, PAY_TO } = parseEnv(readFileSync('deploy/devnet.env', 'utf8'));
  const chain = { chainId: Number(CHAIN_ID), asset: ASSET_ADDRESS as Hex, payTo: PAY_TO as Hex };
  const { signature, authorization } = await signAuthorization(chain, derivePayer(1), {
    value: String(priceBaseUnits),
  });
  const payload = { x402Version: 1, scheme: 'exact', network: NETWORK, payload: { signature, authorization } };
  const answer = await fetch(`${gateway}/api/weather`, { headers: { [X_PAYMENT]: encodeJsonHeader(payload) } });
  assert(answer.status === 200, `a signed payment got ${answer.status}: ${await answer.text()}`);
  const settled = Buffer.from(answer.headers.get(X_PAYMENT_RESPONSE) ?? '', 'base64').toString();
  assert(/"transaction":"0x[0-9a-f]{64}"/.test(settled), `it was settled as: ${settled}`);
}
