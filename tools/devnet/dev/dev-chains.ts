import { startChain, type Devnet, type DevnetWithProtocols } from '../chain/chain.js';
import { SECOND_CHAIN_ID } from '../chain/two-chains.js';
import { findFreePort } from '../processes/free-port.js';
import { keepParts } from '../processes/keep-parts.js';
import { claimPort } from './claim-port.js';
import type { World } from './world.js';

const FIRST_PORT = 8545;
const SECOND_PORT = 8546;

/** The chains of a world, which are saved as they stop. */
export interface DevChains {
  readonly first: DevnetWithProtocols;
  /** Null where there is one. */
  readonly second: Devnet | null;
  /** They have stopped, and the world's files have all that was on them. */
  isSaved(): boolean;
  stop(): Promise<void>;
}

/** Starts one chain or two, or goes on with those of the world. To be stopped after everything that sends to them. */
export async function startDevChains(
  world: World,
  { chainId, hasSecond }: { chainId: number; hasSecond: boolean },
): Promise<DevChains> {
  const { keep, stop } = keepParts();
  let unsaved = 0;
  const saveAtStop = <Chain extends Devnet>(chain: Chain, file: string): Chain => {
    keep(chain);
    unsaved++;
    keep({
      stop: async () => {
        try {
          await chain.save(file);
          unsaved--;
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          console.error(`The chain could not be saved, so the next start begins anew: ${reason}`);
        }
      },
    });
    return chain;
  };
  try {
    const { chainFile, secondChainFile, saved } = world;
    const helped = { onNudge: showNudge };
    const startFirst = (at: { port?: number }) => startChain({ ...helped, ...at, chainId, saved, protocols: true });
    const savedSecond = saved && { file: secondChainFile, contracts: null };
    const startSecond = (at: { port?: number }) =>
      startChain({ ...helped, ...at, chainId: SECOND_CHAIN_ID, saved: savedSecond });
    const first = saveAtStop(await startOnUsualPort(FIRST_PORT, startFirst), chainFile);
    const second = hasSecond ? saveAtStop(await startOnUsualPort(SECOND_PORT, startSecond), secondChainFile) : null;
    return { first, second, isSaved: () => unsaved === 0, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Another program may take the usual port between the search and the start. */
async function startOnUsualPort<Chain>(
  usual: number,
  start: (at: { port?: number }) => Promise<Chain>,
): Promise<Chain> {
  const port = await findFreePort(claimPort(usual));
  return start({ port }).catch(() => start({}));
}

function showNudge(nudges: number): void {
  console.log(`chain: automine left transactions in the pool and was helped (${nudges} times so far)`);
}
