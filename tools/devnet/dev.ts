import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

import { claimPidFile } from '../../scripts/process-identity.mjs';
import { startChain } from './chain/chain.js';
import { startExplorer } from './chain/explorer.js';
import { checkSettings, chosenSettings, warnOfPublicUrl } from './check-settings.js';
import { claimDevFolder, type DevFolder, type DevState } from './dev-state.js';
import { findFreePort } from './processes/free-port.js';
import { keepParts } from './processes/keep-parts.js';
import { openRedis } from './processes/redis.js';
import { waitForStopRequest } from './processes/stop-request.js';
import { createOperatorKey } from './stack/create-operator-key.js';
import { startStack, type ProcessFailure, type Stack } from './stack/stack.js';
import { buildTestWallet } from './test-wallet/build-test-wallet.js';

const CHAIN_PORT = 8545;
const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

interface DevStack {
  stack: Stack;
  state: DevState;
  /** The requested port of the gateway; 0: any. */
  wantedPort: number;
  stop: () => Promise<void>;
}

/** Runs the whole stack until it is stopped. Resolves with the exit code: 0, or 1 when a process failed. */
export async function runDev(): Promise<number> {
  const stopRequest = waitForStopRequest();
  const folder = claimDevFolder();
  const starting = startDevStack(folder);
  try {
    const first = await Promise.race([starting, stopRequest]);
    if (typeof first === 'string') return 0;
    folder.publish(first.state);
    showAddresses(first, folder);
    const end = await Promise.race([stopRequest, first.stack.firstFailure]);
    if (typeof end !== 'string') return showFailure(end);
    console.log(`\n${end}: stopping…`);
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  } finally {
    // Stopped while starting: each part is stopped as soon as it has started.
    await starting.then(
      ({ stop }) => stop(),
      () => undefined,
    );
    folder.release();
  }
}

async function startDevStack(folder: DevFolder): Promise<DevStack> {
  const { env } = process;
  const servicesEnv = {
    LOG_FORMAT: 'pretty',
    CHALLENGE_SECRET: folder.challengeSecret,
    AGENT_SECRET: folder.agentSecret,
    SIGNED_PAYMENTS: String(takesSignedPayments(env)),
    ...chosenSettings(env),
  };
  const { ports, chainId } = checkSettings(env, servicesEnv);
  const { keep, stop } = keepParts();
  try {
    const redis = keep(await openRedis(env['REDIS_URL']));
    const chain = keep(await startDevChain(chainId));
    const explorerUrl = env['EXPLORER_URL'] ?? keep(await startExplorer(chain)).url;
    const stack = keep(
      await startStack({
        redis,
        chain,
        quiet: false,
        agentWorkers: 1,
        book: { folder: join(folder.path, 'book'), signingKey: folder.bookSigningKey },
        wantedPorts: {
          gateway: claimPort(ports.PORT),
          verifier: claimPort(ports.VERIFIER_PORT),
          'agent-worker': claimPort(ports.AGENT_WORKER_PORT),
          bookkeeper: claimPort(ports.BOOKKEEPER_PORT),
        },
        env: { ...servicesEnv, EXPLORER_URL: explorerUrl, ...(await createTestWallet(folder, chain.rpcUrl)) },
        onReady: (part, url) => console.log(`${part} is ready at ${url}`),
      }),
    );
    const state: DevState = {
      baseUrl: stack.baseUrl,
      rpcUrl: chain.rpcUrl,
      redisUrl: redis.url,
      chainId: chain.chainId,
      network: env['NETWORK'] ?? 'chain-testnet',
      asset: chain.asset,
      payTo: (env['PAY_TO'] ?? chain.payTo) as DevState['payTo'],
      explorerUrl,
      accounts: chain.accounts,
      agent: await openAgentDoor(stack),
      operator: await openOperatorDoor(stack, redis.url),
      contracts: chain.contracts,
    };
    return { stack, state, wantedPort: ports.PORT, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Whether the pages have a wallet, so that a browser without one can pay: not where others reach the gateway. */
function hasTestWallet({ HOST, PAGES }: NodeJS.ProcessEnv = process.env): boolean {
  return PAGES !== 'false' && (HOST === undefined || LOOPBACK.includes(HOST));
}

async function createTestWallet({ path }: DevFolder, rpcUrl: string): Promise<NodeJS.ProcessEnv> {
  return hasTestWallet() ? { TEST_WALLET: await buildTestWallet(path), WALLET_RPC_URL: rpcUrl } : {};
}

/** The agent wallet of the stack, and an API key to submit jobs with. */
async function openAgentDoor({ agents }: Stack): Promise<DevState['agent']> {
  const [wallet] = agents?.wallets ?? [];
  if (!agents || !wallet) throw new Error('the stack has no agent wallet');
  const { token } = await agents.createApiKey(['submit', 'read']);
  return { wallet: wallet.name, address: wallet.address, apiKey: token };
}

/** The operator API, and an API key that may do everything there. */
async function openOperatorDoor({ bookkeeper }: Stack, redisUrl: string): Promise<DevState['operator']> {
  if (bookkeeper === null) throw new Error('the stack has no bookkeeper');
  return { url: bookkeeper.url, apiKey: await createOperatorKey(redisUrl) };
}

/**
 * The port, unless another devnet of this machine has claimed it; then 0, which means any. Two devnets that start
 * together would both find it free, and one would mistake the other's gateway for its own.
 */
function claimPort(port: number): number {
  const file = join(tmpdir(), `tollgate-port-${port}`);
  if (!claimPidFile(file)) return 0;
  process.once('exit', () => rmSync(file, { force: true }));
  return port;
}

/** Another program may take the usual port between the search and the start. */
async function startDevChain(chainId: number | undefined) {
  const options = { ...(chainId === undefined ? {} : { chainId }), protocols: true, onNudge: showNudge } as const;
  const port = await findFreePort(claimPort(CHAIN_PORT));
  return startChain({ ...options, port }).catch(() => startChain(options));
}

function showNudge(nudges: number): void {
  console.log(`chain: automine left transactions in the pool and was helped (${nudges} times so far)`);
}

function showAddresses({ state, stack, wantedPort }: DevStack, folder: DevFolder): void {
  const { FACILITATOR, PUBLIC_URL, ROUTES_FILE } = process.env;
  const [account] = state.accounts;
  const [relayer] = stack.chain.relayers;
  const file = relative(process.cwd(), folder.stateFile);
  const lines: [string, string][] = [
    ['gateway', `${state.baseUrl}${portNote(state.baseUrl, wantedPort)}`],
    ['', `curl -i ${state.baseUrl}/api/weather`],
    ...lineIf(Boolean(ROUTES_FILE), '', `sells the routes of ${ROUTES_FILE} too`),
    ['chain', `${state.rpcUrl}    chain id ${state.chainId}, a block per transaction`],
    ['redis', state.redisUrl.replace(/\/\/[^@/]*@/, '//…@')],
    ['explorer', `${state.explorerUrl}/tx/<transaction hash>`],
    ['USDC', state.asset],
    ['protocols', `Uniswap v2 and v3, Compound v2, staking, perps: their addresses are in ${file}`],
    ['pays to', state.payTo],
    ['a payer', `${account?.address}`],
    ['its key', `${account?.privateKey}`],
    ...lineIf(takesSignedPayments(process.env), 'relayer', `${relayer?.address}    settles signed payments`),
    ...lineIf(FACILITATOR === 'true', 'servers', `use ${state.baseUrl}/facilitator as their facilitator`),
    ['agent', `wallet ${state.agent.wallet}, ${state.agent.address}; a first job:`],
    ['', createFirstJob(state)],
    ['book', `${state.operator.url}/operator/balances, or: node dist/tollgate.js book balances`],
    ['console', `${state.operator.url}/console    who paid, what is owed, jobs, wallets, the book`],
    ['its key', `${state.operator.apiKey}    for this devnet alone`],
    ['all this', `${file}${folder.isUsual ? '' : '    (another devnet runs in this folder and has the usual file)'}`],
  ];
  const page = hasTestWallet() ? 'Open this page, click, and pay with a test wallet' : 'What it sells';
  console.log(`\nTollgate runs. Ctrl-C stops it. ${page}:\n\n  ${state.baseUrl}/\n`);
  for (const [name, value] of lines) console.log(`  ${name.padEnd(9)} ${value}`);
  const warning = warnOfPublicUrl(PUBLIC_URL, wantedPort, state.baseUrl);
  if (warning !== null) console.warn(`\n  ${warning}`);
  console.log('');
}

/** True unless it is turned off, or the policy accepts only transactions. */
function takesSignedPayments({ SIGNED_PAYMENTS: asked, PAYMENT_POLICY: policy }: NodeJS.ProcessEnv): boolean {
  return asked === undefined ? policy !== 'receipt' : asked === 'true';
}

function lineIf(isShown: boolean, name: string, text: string): [string, string][] {
  return isShown ? [[name, text]] : [];
}

/** A command to paste into a shell. */
function createFirstJob({ baseUrl, agent, payTo }: DevState): string {
  const job = { operation: 'transfer', wallet: agent.wallet, input: { amount: '1.5', token: 'USDC', to: payTo } };
  return (
    `curl -i ${baseUrl}/agent/jobs -H 'Authorization: Bearer ${agent.apiKey}' -H 'Idempotency-Key: first' ` +
    `-H 'Content-Type: application/json' -d '${JSON.stringify(job)}'`
  );
}

/** A note if the gateway has another port than the requested one. */
function portNote(url: string, wanted: number): string {
  const isElsewhere = wanted !== 0 && new URL(url).port !== String(wanted);
  return isElsewhere ? `    (port ${wanted} was taken)` : '';
}

function showFailure({ name, exit, logs }: ProcessFailure): number {
  const end = exit.signal ? `was killed by ${exit.signal}` : `ended with exit code ${exit.code}`;
  console.error(`\n${name} ${end}, so everything is stopped. Its last lines:\n`);
  for (const line of logs.split('\n').slice(-25)) console.error(`  | ${line}`);
  return 1;
}
