import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ApiKeyStore, type NewApiKey } from '@tollgate/http';

import { sourcesHash } from './chain/chain-state.js';
import { describeDevnet, type Devnet } from './chain/chain.js';
import { startExplorer } from './chain/explorer.js';
import { SECOND_OF_FILE, writePaymentsFile } from './chain/payments-file.js';
import { FIRST_CHAIN_ID, SECOND_CHAIN_ID } from './chain/two-chains.js';
import { checkSettings, chosenSettings } from './check-settings.js';
import { claimDevFolder, type DevFolder, type DevState } from './dev-state.js';
import { claimPort } from './dev/claim-port.js';
import { startDevChains, type DevChains } from './dev/dev-chains.js';
import { countRelayers, hasTestWallet, takesSignedPayments } from './dev/policy.js';
import { hashBookSchema, namePlace, openWorld, type World } from './dev/world.js';
import { keepParts } from './processes/keep-parts.js';
import { findRedis, redisServerName, startRedis } from './processes/redis.js';
import { repositoryRoot } from './processes/repository.js';
import { waitForStopRequest } from './processes/stop-request.js';
import { withRedis } from './processes/with-redis.js';
import { showAddresses, type RunningDevnet } from './show-addresses.js';
import { OPERATOR_KEY } from './stack/create-operator-key.js';
import { startStack, type ProcessFailure, type Stack } from './stack/stack.js';
import { buildTestWallet } from './test-wallet/build-test-wallet.js';

export interface DevOptions {
  /** Throws away what earlier runs kept. */
  isFresh?: boolean;
  /** Sells for three tokens on two chains. */
  hasSecondChain?: boolean;
}

interface DevStack extends RunningDevnet {
  firstFailure: Stack['firstFailure'];
  /** `isKept`: the next start goes on with this world. */
  stop: (isKept: boolean) => Promise<void>;
}

/** Runs the whole stack until it is stopped. Resolves with the exit code: 0, or 1 when a process failed. */
export async function runDev(options: DevOptions = {}): Promise<number> {
  const stopRequest = waitForStopRequest();
  const folder = claimDevFolder();
  const starting = startDevStack(folder, options);
  let isInOrder = false;
  try {
    const first = await Promise.race([starting, stopRequest]);
    if (typeof first !== 'string') {
      folder.publish(first.state);
      showAddresses(first, folder);
      const end = await Promise.race([stopRequest, first.firstFailure]);
      if (typeof end !== 'string') return showFailure(end);
      console.log(`\n${end}: stopping…`);
    }
    isInOrder = true;
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  } finally {
    // Stopped while starting: each part is stopped as soon as it has started.
    await starting.then(
      ({ stop }) => stop(isInOrder),
      () => undefined,
    );
    folder.release();
  }
}

async function startDevStack(folder: DevFolder, options: DevOptions): Promise<DevStack> {
  const { env } = process;
  const { hasSecondChain = false } = options;
  const servicesEnv = {
    LOG_FORMAT: 'pretty',
    CHALLENGE_SECRET: folder.challengeSecret,
    AGENT_SECRET: folder.agentSecret,
    SIGNED_PAYMENTS: String(takesSignedPayments(env)),
    ...chosenSettings(env),
    ...(hasSecondChain ? { PAYMENTS_FILE: folder.paymentsFile } : {}),
  };
  if (hasSecondChain) {
    const first = describeDevnet(Number(env['CHAIN_ID'] || FIRST_CHAIN_ID));
    writePaymentsFile(folder.paymentsFile, { first, second: describeDevnet(SECOND_CHAIN_ID) });
  }
  const { ports, chainId = FIRST_CHAIN_ID, bookDatabaseUrl } = checkSettings(env, servicesEnv);
  const { keep, stop } = keepParts();
  let opened: World | undefined;
  let chains: DevChains | undefined;
  // Whether the chains' files are of the same moment as Redis and the book.
  const isSaved = () => chains === undefined || chains.isSaved();
  try {
    const ownRedis = await findRedis(env['REDIS_URL']);
    const world = (opened = await openDevWorld(folder, {
      chainId,
      bookDatabaseUrl,
      hasOwnRedis: ownRedis !== null,
      ...options,
    }));
    const redis = keep(ownRedis ?? (await startRedis({ dir: join(world.path, 'redis') })));
    chains = keep(await startDevChains(world, { chainId, hasSecond: hasSecondChain }));
    const { first: chain, second } = chains;
    const explorerUrl = env['EXPLORER_URL'] ?? keep(await startExplorer(chain)).url;
    const secondChain = second && describeSecond(second, keep(await startExplorer(second)).url);
    if (second && secondChain) {
      const explored = {
        first: { ...chain, explorerUrl, walletRpcUrl: chain.rpcUrl },
        second: { ...second, explorerUrl: secondChain.explorerUrl, walletRpcUrl: second.rpcUrl },
      };
      writePaymentsFile(folder.paymentsFile, explored);
    }
    const stack = keep(
      await startStack({
        redis,
        ...(second ? { twoChains: { first: chain, second, paymentsFile: folder.paymentsFile } } : { chain }),
        quiet: false,
        agentWorkers: 1,
        relayers: countRelayers(env),
        book: { folder: join(world.path, 'book'), signingKey: folder.bookSigningKey },
        wantedPorts: {
          gateway: claimPort(ports.PORT),
          verifier: claimPort(ports.VERIFIER_PORT),
          'agent-worker': claimPort(ports.AGENT_WORKER_PORT),
          bookkeeper: claimPort(ports.BOOKKEEPER_PORT),
        },
        env: {
          ...servicesEnv,
          ...(second ? {} : { EXPLORER_URL: explorerUrl }),
          ...(await createTestWallet(folder, second ? {} : { WALLET_RPC_URL: chain.rpcUrl })),
        },
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
      agent: await openAgentDoor(stack, redis.url, world),
      operator: await openOperatorDoor(stack, redis.url, world),
      contracts: chain.contracts,
      ...(secondChain && { secondChain }),
    };
    world.markStarted();
    return {
      state,
      relayer: chain.relayers[0]?.address,
      wantedPort: ports.PORT,
      firstFailure: stack.firstFailure,
      stop: async (isKept) => {
        await stop();
        if (isKept && isSaved()) world.keep(chain.contracts);
      },
    };
  } catch (error) {
    await stop();
    if (isSaved()) opened?.keepAgain();
    throw error;
  }
}

async function openDevWorld(
  { path }: DevFolder,
  {
    chainId,
    bookDatabaseUrl,
    hasOwnRedis,
    isFresh = false,
    hasSecondChain = false,
  }: DevOptions & { chainId: number; bookDatabaseUrl: string | undefined; hasOwnRedis: boolean },
): Promise<World> {
  const terms = {
    chainId,
    chains: hasSecondChain ? 2 : 1,
    chain: await sourcesHash(),
    book: hashBookSchema(join(repositoryRoot(), 'libs', 'book', 'src', 'migrations')),
    redis: hasOwnRedis ? namePlace(process.env['REDIS_URL'] ?? '') : null,
    redisServer: hasOwnRedis ? null : redisServerName(),
    database: bookDatabaseUrl === undefined ? null : namePlace(bookDatabaseUrl),
  };
  const world = openWorld(path, terms, { isFresh });
  if (world.note !== null) console.log(world.note);
  return world;
}

function describeSecond({ rpcUrl, chainId, asset, plainToken }: Devnet, explorerUrl: string): DevState['secondChain'] {
  return { rpcUrl, chainId, network: SECOND_OF_FILE.network, asset, plainToken, explorerUrl };
}

/** @param node the setting that names its node; none where the payments file does */
async function createTestWallet({ path }: DevFolder, node: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  return hasTestWallet(process.env) ? { TEST_WALLET: await buildTestWallet(path), ...node } : {};
}

/** The agent wallet of the stack, and an API key to submit jobs with. */
async function openAgentDoor({ agents }: Stack, redisUrl: string, { path }: World): Promise<DevState['agent']> {
  const [wallet] = agents?.wallets ?? [];
  if (!agents || !wallet) throw new Error('the stack has no agent wallet');
  const apiKey = await openKey(redisUrl, join(path, 'agent-key'), {
    name: 'devnet',
    scopes: ['submit', 'read'],
    wallets: agents.wallets.map(({ name }) => name),
  });
  return { wallet: wallet.name, address: wallet.address, apiKey };
}

/** The operator API, and an API key that may do everything there. */
async function openOperatorDoor(
  { bookkeeper }: Stack,
  redisUrl: string,
  { path }: World,
): Promise<DevState['operator']> {
  if (bookkeeper === null) throw new Error('the stack has no bookkeeper');
  return { url: bookkeeper.url, apiKey: await openKey(redisUrl, join(path, 'operator-key'), OPERATOR_KEY) };
}

/** The token in the file if it is a key of this Redis that is not revoked; else that of a new key, which the file then has. */
function openKey(redisUrl: string, file: string, wanted: NewApiKey): Promise<string> {
  return withRedis(redisUrl, async (redis) => {
    const store = new ApiKeyStore(redis);
    const kept = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if ((await store.authenticate(kept)) !== null) return kept;
    const { token } = await store.create(wanted);
    writeFileSync(file, token, { mode: 0o600 });
    return token;
  });
}

function showFailure({ name, exit, logs }: ProcessFailure): number {
  const end = exit.signal ? `was killed by ${exit.signal}` : `ended with exit code ${exit.code}`;
  console.error(`\n${name} ${end}, so everything is stopped. Its last lines:\n`);
  for (const line of logs.split('\n').slice(-25)) console.error(`  | ${line}`);
  return 1;
}
