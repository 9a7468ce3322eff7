import type { AccountSources, WalletEntry } from '@tollgate/agent-jobs';
import {
  createLaneId,
  DEFAULT_LANE_SETTINGS,
  nameLane,
  type ChainReading,
  type LaneId,
  type LaneTransition,
} from '@tollgate/journal';
import { InvalidArgumentError } from 'commander';

import { CommandError } from '../shared/cli-command.js';
import type { FindRpc } from '../shared/find-place.js';
import { findChainId, withChain } from '../shared/with-journal.js';

export interface WalletParts extends Omit<AccountSources, 'relayers'> {
  rpc: FindRpc;
}

/** Seeds the wallet's nonce counter from the chain. `address`: publishes the name too, before any worker has. */
export async function adoptWallet(parts: WalletParts, name: string, address: string | undefined): Promise<string> {
  const { lane } = address === undefined ? await findWallet(parts, name) : await publishWallet(parts, name, address);
  const { pendingNonce } = await readChainNonce(parts, lane);
  const result = await parts.journal.adopt(lane, { pendingNonce });
  if (result.outcome === 'refused' && result.reason === 'already_adopted') {
    const { nextNonce } = await parts.journal.readLane(lane);
    return `${name} (${lane.address}) is already adopted; its next nonce is ${nextNonce}.`;
  }
  assertDone(result, name);
  const { nextNonce, paused } = await parts.journal.readLane(lane);
  const still = paused === null ? '' : ` It is still paused: tollgate wallets resume ${name}`;
  return `${name} (${lane.address}) is adopted; its next nonce is ${nextNonce}.${still}`;
}

export async function pauseWallet(parts: WalletParts, name: string, reason: string): Promise<string> {
  const { lane } = await findWallet(parts, name);
  const suggestion = `Run tollgate wallets resume ${name} to end the pause.`;
  const why = { code: 'PAUSED_BY_OPERATOR', message: reason, suggestion };
  const { outcome } = assertDone(await parts.journal.pauseLane(lane, why), name);
  return outcome === 'done'
    ? `${name} is paused: no new transaction begins; those in flight continue.`
    : `${name} was already paused; the first reason stays.`;
}

export async function resumeWallet(parts: WalletParts, name: string): Promise<string> {
  const { lane } = await findWallet(parts, name);
  const { outcome } = assertDone(await parts.journal.resumeLane(lane), name);
  return outcome === 'done' ? `${name} is resumed.` : `${name} was not paused.`;
}

/** Compares a frozen wallet that no worker holds with the chain; a worker does the same for the wallets it holds. */
export async function thawWallet(parts: WalletParts, name: string): Promise<string> {
  const { lane } = await findWallet(parts, name);
  const { frozen, run } = await parts.journal.readLane(lane);
  if (frozen === null || run === null) return `${name} is not frozen.`;
  const reading = await readChainNonce(parts, lane);
  assertDone(await parts.journal.thaw(lane, { ...reading, run }, DEFAULT_LANE_SETTINGS), name);
  return `${name} agrees with the chain and is no longer frozen.`;
}

/** Removes the name from the directory; the account's jobs and nonces stay. */
export async function removeWallet(parts: WalletParts, name: string, isForced: boolean): Promise<string> {
  const { lane } = await findWallet(parts, name);
  const { openJobs } = await parts.journal.readLane(lane);
  if (openJobs > 0 && !isForced) {
    throw new CommandError(
      `${name} has ${openJobs} open jobs, which could no longer be found by this name. Add --force to remove it all the same.`,
    );
  }
  await parts.directory.remove(name);
  return `${name} names no account now. A worker that still has this wallet publishes the name again at its next start.`;
}

export async function findWallet({ directory }: Pick<WalletParts, 'directory'>, name: string): Promise<WalletEntry> {
  const found = await directory.find(name);
  if (found) return found;
  const known = (await directory.list()).map((entry) => entry.name);
  const others = known.length === 0 ? 'No worker has published any yet.' : `There are: ${known.join(', ')}.`;
  throw new CommandError(`There is no wallet ${name}. ${others}`);
}

async function publishWallet(parts: WalletParts, name: string, address: string): Promise<WalletEntry> {
  if (!/^[a-z0-9][\w.-]{0,62}$/i.test(name))
    throw new InvalidArgumentError('A name has 1 to 63 letters, digits or ._-');
  const chainId = await findChainId(assertRpc(parts.rpc(null))).catch(() => {
    throw new CommandError('No RPC server answered. Set RPC_URL, or start one with npm run dev.');
  });
  const lane = createLaneId(chainId, address);
  const published = await parts.directory.publish({ name, lane });
  if (published.name !== name) {
    throw new CommandError(
      `${address} is the wallet ${published.name}: run tollgate wallets remove ${published.name} first.`,
    );
  }
  if (nameLane(published.lane) === nameLane(lane)) return published;
  const { address: other, chainId: otherChain } = published.lane;
  throw new CommandError(`${name} names ${other} on chain ${otherChain}: run tollgate wallets remove ${name} first.`);
}

export async function readChainNonce({ rpc }: WalletParts, lane: LaneId): Promise<Omit<ChainReading, 'run'>> {
  return withChain(lane.chainId, assertRpc(rpc(lane.chainId)), async (chain) => {
    const [head, pendingNonce] = await Promise.all([
      chain.readHead(lane.address),
      chain.readPendingNonce(lane.address),
    ]);
    return { pendingNonce, blockNumber: head.number };
  }).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`The wallet's nonce could not be read from chain ${lane.chainId}: ${reason}`);
  });
}

function assertRpc(urls: readonly string[]): readonly string[] {
  if (urls.length > 0) return urls;
  throw new CommandError('This command asks the chain: set RPC_URL, or PAYMENTS_FILE.');
}

/** @throws CommandError with the remedy */
export function assertDone(result: LaneTransition, name: string): Exclude<LaneTransition, { outcome: 'refused' }> {
  if (result.outcome !== 'refused') return result;
  switch (result.reason) {
    case 'not_adopted':
      throw new CommandError(`${name} is not adopted: tollgate wallets adopt ${name}`);
    case 'chain_ahead':
      throw new CommandError(
        `The chain has, or had when it was last compared, transactions of ${name} that the journal does not know. Find out who sent them; then run ` +
          `tollgate wallets adopt ${name} to continue after them. Jobs that may have sent one of them wait for an operator.`,
      );
    case 'too_early': {
      const { nonceDoubtBlocks, nonceDoubtMs } = DEFAULT_LANE_SETTINGS;
      throw new CommandError(
        `Redis lost writes, and what ${name} sent last may not show yet. The chain is as the journal has it: run this again ` +
          `after ${nonceDoubtMs / 1000} seconds and ${nonceDoubtBlocks} blocks. tollgate wallets adopt ${name} does not wait.`,
      );
    }
    case 'lane_frozen':
      throw new CommandError('Redis restarted meanwhile. Try again.');
    default:
      throw new CommandError(`The journal refused: ${result.reason}.`);
  }
}
