import { readChainId } from '@tollgate/chain';
import { Chain } from '@tollgate/journal';

const TIMEOUT_MS = 5000;

/** Runs the work with the chain, and closes it. */
export async function withChain<T>(
  chainId: number,
  rpcUrls: readonly string[],
  work: (chain: Chain) => Promise<T>,
): Promise<T> {
  const chain = new Chain({ chainId, rpcUrls, timeoutMs: TIMEOUT_MS });
  try {
    return await work(chain);
  } finally {
    await chain.close();
  }
}

/** The chain of the first RPC server that answers. */
export async function findChainId([rpcUrl, ...others]: readonly string[]): Promise<number> {
  if (rpcUrl === undefined) throw new Error('No RPC server answered.');
  return readChainId(rpcUrl, TIMEOUT_MS).catch(() => findChainId(others));
}
