import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startRpcStandIn, type RpcStandIn } from '../../libs/chain/test/rpc-stand-in.js';
import { startTwoChains, type TwoChains } from '../../tools/devnet/chain/two-chains.js';
import { keepParts } from '../../tools/devnet/processes/keep-parts.js';
import { startStack, type Stack } from '../../tools/devnet/stack/stack.js';
import { startUpstream, type Upstream } from '../flows/start-upstream.js';
import { VALID_SECONDS } from './chaos-payments.js';

const PATH = '/v1/quotes/A';
const ROUTES = `routes: [{ path: ${PATH}, price: "0.001", upstream: "\${UPSTREAM}" }]`;

/** Two gateways, and two verifiers of each of two chains, that sell in three tokens. */
export interface Market {
  readonly stack: Stack;
  readonly chains: TwoChains;
  /** The verifiers of each chain reach it only through this. */
  readonly rpcs: readonly [RpcStandIn, RpcStandIn];
  readonly upstream: Upstream & { answer: Parameters<typeof startUpstream>[0] };
  /** The resource, at a gateway. */
  url(gateway: number): string;
  stop(): Promise<void>;
}

export async function startMarket(): Promise<Market> {
  const { keep, stop: stopParts } = keepParts();
  try {
    const folder = mkdtempSync(join(tmpdir(), 'market-'));
    keep({ stop: () => Promise.resolve(rmSync(folder, { recursive: true })) });
    const routesFile = join(folder, 'routes.yaml');
    writeFileSync(routesFile, ROUTES);
    const chains = keep(await startTwoChains());
    const first = keep(await startRpcStandIn(chains.first.rpcUrl));
    const second = keep(await startRpcStandIn(chains.second.rpcUrl));
    const upstream = keep(await startUpstream((_, response) => response.end()));
    const twoChains = {
      first: { ...chains.first, rpcUrl: first.url },
      second: { ...chains.second, rpcUrl: second.url },
      paymentsFile: chains.paymentsFile,
    };
    const stack = keep(
      await startStack({
        twoChains,
        gateways: 2,
        verifiers: 2,
        relayers: 1,
        env: {
          ROUTES_FILE: routesFile,
          UPSTREAM: upstream.url,
          SIGNED_PAYMENTS: 'true',
          LEASE_MS: '1500',
          VERIFY_RETRY_MS: '700',
          VERIFY_DEADLINE_MS: '6000',
          // Longer than the look-ups of one verifier take on a busy machine while the other is down; else all would time
          // out.
          RPC_TIMEOUT_MS: '2000',
          RECEIPT_WAIT_MS: '0',
          REDEMPTION_WINDOW_SECONDS: String(VALID_SECONDS),
        },
      }),
    );
    return {
      stack,
      chains,
      rpcs: [first, second],
      upstream,
      url: (gateway) => stack.gateways[gateway]!.url + PATH,
      stop: async () => {
        // Requests that the test made to hang must not delay the end.
        first.fail(undefined);
        second.fail(undefined);
        await stopParts();
      },
    };
  } catch (error) {
    await stopParts();
    throw error;
  }
}
