import { startChain, type ChainOptions, type Devnet } from '../tools/devnet/chain/chain.js';

let nudges = 0;

/** A chain whose automine is helped when it stops. */
export function startBenchChain(options: ChainOptions = {}): Promise<Devnet> {
  return startChain({ ...options, onNudge: () => void nudges++ });
}

/** How often the chains were helped since the last call. */
export function takeNudges(): number {
  const taken = nudges;
  nudges = 0;
  return taken;
}
