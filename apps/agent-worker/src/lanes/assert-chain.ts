import { readChainId } from '@tollgate/chain';
import { ConfigurationError } from '@tollgate/config';
import type { Logger } from 'nestjs-pino';

export interface ExpectedChain {
  rpcUrls: readonly string[];
  chainId: number;
  timeoutMs: number;
}

/**
 * Asks every RPC server for its chain id, since signed transactions go to all of them. A server that does not answer
 * does not prevent the start.
 * @throws ConfigurationError when one is on another chain
 */
export async function assertChain({ rpcUrls, chainId, timeoutMs }: ExpectedChain, logger: Logger): Promise<void> {
  const chainIds = await Promise.all(rpcUrls.map((url) => readChainId(url, timeoutMs).catch(() => null)));
  const problems = chainIds.flatMap((found, index) =>
    found === null || found === chainId
      ? []
      : [`RPC_URL: entry ${index + 1} is on chain ${found}, but CHAIN_ID is ${chainId}. Correct one of them.`],
  );
  if (problems.length > 0) throw new ConfigurationError(problems);
  const silent = chainIds.flatMap((found, index) => (found === null ? [index + 1] : []));
  if (silent.length > 0) logger.warn(`agent worker: RPC_URL: no answer yet from entry ${silent.join(', ')}`);
}
