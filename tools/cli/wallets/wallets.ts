import { Journal, RELAYER_FLEET, UnreadableJobError, type LaneId, type LaneStatus } from '@tollgate/journal';
import { formatTokenAmount, type AgentWaitingView } from '@tollgate/protocol';

// The library's index would load Nest, which doubles the start.
import { describeWaiting } from '../../../libs/agent-jobs/src/views/describe-job.js';
import { listAccounts, type Account, type AccountSources } from '../../../libs/agent-jobs/src/wallets/list-accounts.js';
import { describeGap, mendGap, nameGap, type NonceGapView } from '../../../libs/agent-jobs/src/wallets/nonce-gap.js';
import { WalletDirectory } from '../../../libs/agent-jobs/src/wallets/wallet-directory.js';
import { clean } from '../jobs/format-jobs.js';
import type { CommandResult } from '../shared/cli-command.js';
import { findDurability } from '../shared/find-durability.js';
import { findRedisPlace, findRpcServers, type FindRpc } from '../shared/find-place.js';
import { formatTable } from '../shared/format-table.js';
import { withChain, withJournal } from '../shared/with-journal.js';
import type { AccountParts } from './release-account.js';

export interface WalletQuery {
  redis?: string;
  rpc?: string;
}

export { releaseAccount } from './release-account.js';
export { fillWallet } from './fill-wallet.js';
export { adoptWallet, pauseWallet, removeWallet, resumeWallet, thawWallet } from './wallet-commands.js';

export async function listWallets(options: WalletQuery, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const wallets = await withAccounts(options, env, (parts) => readWalletStates(parts, parts.rpc), null);
  return {
    json: describeWallets(wallets),
    text:
      wallets.length === 0
        ? 'No agent worker has published a wallet yet, and no verifier a relayer.'
        : formatWallets(wallets),
  };
}

/**
 * Runs the work with the journals, the names of wallets and the chain. `durability`: null for work that only shows what
 * Redis has, acknowledged by replicas or not.
 */
export function withAccounts<T>(
  options: WalletQuery,
  env: NodeJS.ProcessEnv,
  work: (parts: AccountParts) => Promise<T>,
  durability = findDurability(env),
): Promise<T> {
  return withJournal(
    findRedisPlace(options.redis, env),
    (journal, redis) => {
      // Not opened, because the verifiers set the options of the relayers' journal.
      const relayers = new Journal({ redis, fleet: RELAYER_FLEET, durability });
      return work({ journal, relayers, directory: new WalletDirectory(redis), rpc: findRpcServers(options, env) });
    },
    durability,
  );
}

interface WalletState extends Omit<Account, 'names'> {
  /** Null: the account has none. */
  name: string | null;
  status: LaneStatus;
  /** What the oldest of its jobs that stands still waits for; null: none of the oldest does. */
  waiting: (AgentWaitingView & { jobId: string }) | null;
  gap: NonceGapView | null;
  /** Null where the chain did not answer. */
  onChain: { pendingNonce: number; balanceWei: bigint } | null;
}

/** Every account in the state of the journal and the chain; one with several names is listed under each. */
export async function readWalletStates(sources: AccountSources, rpc: FindRpc): Promise<WalletState[]> {
  const states = (await listAccounts(sources)).map(async ({ names, ...account }) => {
    const { lane, role } = account;
    const journal = role === 'relayer' ? sources.relayers : sources.journal;
    const [status, waiting, onChain] = await Promise.all([
      journal.readLane(lane),
      findWaiting(journal, lane),
      readOnChain(lane, rpc).catch(() => null),
    ]);
    const known = names.length === 0 ? [null] : names;
    const gap = await describeGap(journal, status);
    return known.map((name) => ({ ...account, name, status, waiting, gap, onChain }));
  });
  return (await Promise.all(states)).flat();
}

const JOBS_EXAMINED = 100;

async function findWaiting(journal: Journal, lane: LaneId): Promise<WalletState['waiting']> {
  const oldest = (await journal.readOpenJobs(lane)).slice(0, JOBS_EXAMINED);
  for (const job of await journal.readEachJob(oldest)) {
    if (job === null || job instanceof UnreadableJobError) continue;
    const waiting = describeWaiting(job);
    if (waiting) return { jobId: job.id, ...waiting };
  }
  return null;
}

async function readOnChain(lane: LaneId, rpc: FindRpc): Promise<WalletState['onChain']> {
  const rpcUrls = rpc(lane.chainId);
  if (rpcUrls.length === 0) return null;
  return withChain(lane.chainId, rpcUrls, async (chain) => {
    // The nonce is read first: a chain other than the wallet's refuses it.
    const pendingNonce = await chain.readPendingNonce(lane.address);
    return { pendingNonce, balanceWei: await chain.readBalance(lane.address) };
  });
}

const NATIVE_DECIMALS = 18;

export function formatWallets(wallets: readonly WalletState[]): string {
  const table = formatTable(
    ['WALLET', 'ADDRESS', 'CHAIN', 'BALANCE', 'NEXT NONCE', 'ON CHAIN', 'OPEN', 'IN FLIGHT', 'STATE'],
    wallets.map(({ name, role, lane, status, waiting, gap, onChain }) => [
      name ?? (role === 'relayer' ? '(relayer)' : '(no name)'),
      lane.address,
      String(lane.chainId),
      onChain === null ? '-' : formatTokenAmount(onChain.balanceWei, NATIVE_DECIMALS),
      status.nextNonce === null ? '-' : String(status.nextNonce),
      onChain === null ? '-' : String(onChain.pendingNonce),
      String(status.openJobs),
      String(status.unminedSteps),
      stateOf({ name, role, lane, status, waiting, gap }),
    ]),
  );
  const isSilent = wallets.some(({ onChain }) => onChain === null);
  return isSilent ? `${table}\n\n- on chain: no RPC server of that chain answered. Set RPC_URL.` : table;
}

/** For programs: amounts in wei, as text. */
function describeWallets(wallets: readonly WalletState[]) {
  return wallets.map(({ name, role, lane, status, waiting, gap, onChain }) => ({
    name,
    role,
    address: lane.address,
    chainId: lane.chainId,
    balanceWei: onChain?.balanceWei.toString() ?? null,
    pendingNonce: onChain?.pendingNonce ?? null,
    nextNonce: status.nextNonce,
    openJobs: status.openJobs,
    inFlight: status.unminedSteps,
    paused: status.paused,
    frozen: status.frozen,
    gap,
    waiting,
    heldBy: status.lease?.owner ?? null,
  }));
}

const FROZEN = {
  restarted: 'frozen: Redis restarted; continues once a worker has compared it with the chain',
  lost: 'frozen: Redis may have lost writes; continues once a worker has compared it with the chain',
  chain_ahead: 'frozen: the chain has transactions that the journal does not know; adopt it again',
} as const;

function stateOf({ name, role, lane, status, waiting, gap }: Omit<WalletState, 'onChain'>): string {
  if (status.nextNonce === null) return `not adopted: tollgate wallets adopt ${name ?? lane.address}`;
  const states = [
    ...(status.frozen === null ? [] : [FROZEN[status.frozen]]),
    ...(status.paused === null ? [] : [`paused: ${status.paused.message}`]),
    ...(gap === null ? [] : [clean(`${nameGap(gap)}: ${mendGap({ role, name })}`)]),
    ...(waiting === null ? [] : [clean(`job ${waiting.jobId} waits: ${waiting.code}: ${waiting.message}`)]),
  ];
  if (states.length > 0) return states.join('; ');
  if (status.lease !== null) return `held by ${status.lease.owner}`;
  return role === 'relayer' ? 'a relayer, but no verifier holds it' : 'adopted, but no worker holds it';
}
