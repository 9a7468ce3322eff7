import { startChain, type ChainOptions, type Devnet } from '../tools/devnet/chain/chain.js';

let nudges = 0;

/** A chain that is asked for a block when its automine stops. */
export function startBenchChain(options: ChainOptions = {}): Promise<Devnet> {
  return startChain({ ...options, onNudge: () => void nudges++ });
}

/** How many blocks the chains were asked for since the last call. */
export function takeNudges(): number {
  const taken = nudges;
  nudges = 0;
  return taken;
}
