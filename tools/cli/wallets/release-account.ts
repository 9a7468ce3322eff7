import {
  createLaneId,
  DEFAULT_LANE_SETTINGS,
  nameLane,
  UnreadableJobError,
  type ChainReading,
  type ReleaseResult,
} from '@tollgate/journal';

// The library's index would load Nest, which doubles the start.
import { listAccounts, type Account, type AccountSources } from '../../../libs/agent-jobs/src/wallets/list-accounts.js';
import { CommandError } from '../shared/cli-command.js';
import { findChainId } from '../shared/with-journal.js';
import { assertDone, readChainNonce, type WalletParts } from './wallet-commands.js';

export type AccountParts = WalletParts & AccountSources;

export interface AccountRelease {
  /** First cancels the jobs that have not begun. */
  cancels: boolean;
  /** Carries it out; otherwise only reports what would be done. */
  isMeant: boolean;
}

/**
 * Ends an account's role as a wallet or as a relayer, so that it may get another one. Refused while a job of it has not
 * ended, or a process works on it. `named`: a wallet's name, or an address.
 */
export async function releaseAccount(parts: AccountParts, named: string, terms: AccountRelease): Promise<string> {
  const account = await findAccount(parts, named);
  const { lane } = account;
  const journal = journalOf(parts, account);
  const label = describe(account);
  const reading = await readChainNonce(parts, lane);
  const { pendingNonce } = reading;
  const { nextNonce } = await journal.readLane(lane);
  if (nextNonce !== null && pendingNonce < nextNonce) {
    throw new CommandError(
      `The chain has ${pendingNonce} transactions of ${lane.address}, and ${nextNonce} were signed: wait until all of them are mined.`,
    );
  }
  if (terms.isMeant) {
    if (terms.cancels) await cancelUnbegun(parts, account);
    await thaw(parts, account, reading);
  }
  const result = await journal.release(lane, { isTrial: !terms.isMeant });
  if (result.outcome === 'refused' && (terms.isMeant || result.reason !== 'lane_frozen')) {
    throw new CommandError(await explain(parts, account, result));
  }
  const forgotten = result.outcome === 'done' ? `, and ${result.endedJobs} ended jobs are forgotten` : '';
  if (!terms.isMeant) {
    return `${label} would lose its role${forgotten}. Nothing was changed: add --yes to do it.`;
  }
  for (const name of account.names) await parts.directory.remove(name);
  return `${label} has lost its role${forgotten}. The next process that has its key gives it one, starting at the chain's nonce.`;
}

function journalOf({ journal, relayers }: AccountParts, { role }: Account) {
  return role === 'relayer' ? relayers : journal;
}

function describe({ role, names, lane }: Account): string {
  const what = role === 'relayer' ? 'a relayer' : names.length === 0 ? 'a wallet without a name' : names.join(', ');
  return `${lane.address} on chain ${lane.chainId} (${what})`;
}

async function findAccount(parts: AccountParts, named: string): Promise<Account> {
  const isAddress = /^0x[0-9a-f]{40}$/i.test(named);
  const accounts = (await listAccounts(parts)).filter(({ names, lane }) =>
    isAddress ? lane.address === named.toLowerCase() : names.includes(named),
  );
  const [only, ...others] = accounts;
  if (only === undefined) throw new CommandError(`No account ${named} has a role. See tollgate wallets list.`);
  if (others.length === 0) return only;
  // An address has a role on each chain; the RPC servers determine the chain.
  const chainId = await findChainId(parts.rpc(null)).catch(() => null);
  const wanted = chainId === null ? null : nameLane(createLaneId(chainId, named));
  const found = accounts.find(({ lane }) => nameLane(lane) === wanted);
  if (found === undefined)
    throw new CommandError(`${named} has a role on several chains: set RPC_URL to a server of the chain you mean.`);
  return found;
}

/** Jobs without a nonce, which left nothing behind. */
async function cancelUnbegun(parts: AccountParts, account: Account): Promise<void> {
  const journal = journalOf(parts, account);
  const trial = await journal.release(account.lane, { isTrial: true });
  // The process that holds the lane may begin them meanwhile.
  if (trial.outcome === 'refused' && trial.reason === 'lane_held') return;
  const jobs = await journal.readEachJob(await journal.readOpenJobs(account.lane));
  for (const job of jobs) {
    // One that cannot be read stays open, and the release is refused.
    if (job === null || job instanceof UnreadableJobError || job.stepIndex > 0) continue;
    if (job.state === 'PLANNED' || job.state === 'AWAITING_APPROVAL') await journal.cancel(job.id);
  }
}

/** Compares the account with the chain, because no process holds it and does so. */
async function thaw(parts: AccountParts, account: Account, reading: Omit<ChainReading, 'run'>): Promise<void> {
  const journal = journalOf(parts, account);
  const { frozen, run } = await journal.readLane(account.lane);
  if (frozen === null || run === null) return;
  const result = await journal.thaw(account.lane, { ...reading, run }, DEFAULT_LANE_SETTINGS);
  const isDoubtful = result.outcome === 'refused' && ['chain_ahead', 'too_early'].includes(result.reason);
  // As a verifier does: a relayer's transaction moves nothing a second time.
  if (isDoubtful && account.role === 'relayer') await journal.adopt(account.lane, reading);
  else assertDone(result, account.names[0] ?? account.lane.address);
}

type Refused = Extract<ReleaseResult, { outcome: 'refused' }>;

async function explain(parts: AccountParts, account: Account, result: Refused): Promise<string> {
  const label = describe(account);
  const process = account.role === 'relayer' ? 'verifiers' : 'agent workers';
  switch (result.reason) {
    case 'lane_held': {
      const { lease } = await journalOf(parts, account).readLane(account.lane);
      return `${label} is held by ${lease?.owner ?? 'a process'}: take its key from the ${process} first, and restart them.`;
    }
    case 'lane_busy': {
      const { openJobs, steps, parkedJobs } = result;
      return (
        `${label} has ${openJobs} open jobs, ${steps} unfinished transactions, and ${parkedJobs} jobs that wait for an ` +
        `operator. Give the ${process} its key until all have ended; --cancel ends jobs that have not begun.`
      );
    }
    case 'events_unread':
      return `Some events of ${label} have not been read: give the ${process} its key until they have.`;
    case 'lane_frozen':
      return `Redis restarted, and ${label} has not been compared with the chain since: start the ${process}, and try again.`;
    default:
      return `The journal refused: ${result.reason}.`;
  }
}
