import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { runChatCommand } from '../../packages/agent-kit/src/chat/chat-command.js';
import type { ChatPlace } from '../../packages/agent-kit/src/chat/run-chat.js';
import { startExplorer } from './chain/explorer.js';
import type { DevState } from './dev-state.js';
import { callRpc } from './processes/json-rpc.js';
import { keepParts } from './processes/keep-parts.js';
import { openRedis } from './processes/redis.js';
import { stateDirectory } from './processes/repository.js';
import { waitForStopRequest } from './processes/stop-request.js';
import { startStack } from './stack/stack.js';

/**
 * The kit's chat: on the chain of RPC_URL, else on the devnet that runs in this folder, else on one of its own, which ends
 * with it. Resolves with the exit code.
 */
export async function runDevnetChat(argv: readonly string[]): Promise<number> {
  const stop = new AbortController();
  void waitForStopRequest().then(() => stop.abort());
  let failure: string | null = null;
  const code = await runChatCommand(argv, {
    env: process.env,
    streams: { input: process.stdin, output: process.stdout },
    stop: stop.signal,
    // The children end with this process.
    leaveAtOnce: () => process.exit(130),
    openPlace: () =>
      openPlace((reason) => {
        failure = reason;
        stop.abort();
      }),
  });
  if (failure !== null) console.error(failure);
  return failure === null ? code : 1;
}

async function openPlace(onFailure: (reason: string) => void): Promise<ChatPlace | null> {
  if (process.env['RPC_URL']) return null;
  if (process.env['WALLET_PRIVATE_KEY'] || process.env['WALLET_PRIVATE_KEY_FILE']) {
    console.log(
      'Using the account of WALLET_PRIVATE_KEY. Without that setting, a funded account of the devnet is used.',
    );
  }
  const running = await findRunningDevnet();
  if (running === null && existsSync(join(stateDirectory(), 'dev.json')))
    console.log(`The npm run dev in ${stateDirectory()} does not answer.`);
  if (running) {
    console.log(`Using the devnet that runs here: ${running.rpcUrl}`);
    return createPlace(running, await listResources(running.baseUrl), () => Promise.resolve());
  }
  return startPlace(onFailure);
}

/** The devnet of `npm run dev` in this folder; null if none runs, even if a killed one left its file. */
async function findRunningDevnet(): Promise<DevState | null> {
  try {
    const state = JSON.parse(readFileSync(join(stateDirectory(), 'dev.json'), 'utf8')) as DevState;
    const chainId = await callRpc(state.rpcUrl, 'eth_chainId');
    return Number(chainId) === state.chainId ? state : null;
  } catch {
    return null;
  }
}

async function startPlace(onFailure: (reason: string) => void): Promise<ChatPlace> {
  console.log('Starting a devnet for this session…');
  const { keep, stop } = keepParts();
  try {
    const stack = keep(
      await startStack({
        redis: keep(await openRedis(process.env['REDIS_URL'])),
        protocols: true,
        // A build of all services takes longer than this start of two.
        fromSources: true,
        onReady: (part, url) => console.log(`✓ ${part} at ${url.replace(/\/\/[^@/]*@/, '//…@')}`),
      }),
    );
    const explorer = keep(await startExplorer(stack.chain));
    let isClosing = false;
    const close = async () => {
      isClosing = true;
      console.log('Stopping the devnet…');
      await stop();
    };
    void stack.firstFailure.then(({ name, logs }) => {
      if (!isClosing) onFailure(`${name} ended. Its last lines:\n${logs.split('\n').slice(-10).join('\n')}`);
    });
    const { chain, baseUrl } = stack;
    const place = { ...chain, explorerUrl: explorer.url };
    return createPlace(place, await listResources(baseUrl), close);
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A devnet with a routes file does not sell the weather. */
async function listResources(baseUrl: string): Promise<ChatPlace['resources']> {
  const weather = `${baseUrl}/api/weather`;
  const { status } = await fetch(weather);
  return status === 402 ? { weather } : {};
}

function createPlace(
  { rpcUrl, explorerUrl, accounts }: Pick<DevState, 'rpcUrl' | 'explorerUrl' | 'accounts'>,
  resources: ChatPlace['resources'],
  close: () => Promise<void>,
): ChatPlace {
  const [account] = accounts;
  if (!account) throw new Error('the devnet has no accounts');
  return {
    rpcUrl,
    privateKey: account.privateKey,
    resources,
    explorerUrl,
    close,
  };
}
