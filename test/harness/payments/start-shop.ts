import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startRpcStandIn, type RpcStandIn } from '../../../libs/chain/test/rpc-stand-in.js';
import { startChain, type ChainOptions, type Devnet } from '../../../tools/devnet/chain/chain.js';
import type { RedisServer } from '../../../tools/devnet/processes/redis.js';
import { startStack, type Stack } from '../../../tools/devnet/stack/stack.js';
import { startUpstream, type Upstream } from '../../flows/start-upstream.js';

export interface ShopOptions {
  env?: NodeJS.ProcessEnv;
  gateways?: number;
  verifiers?: number;
  redis?: RedisServer;
  chain?: ChainOptions;
  /** Appended to the RPC server's address, as providers append their API keys. */
  rpcPath?: string;
}

export interface Shop {
  stack: Stack;
  chain: Devnet;
  /** The verifiers reach the chain only through it. */
  rpc: RpcStandIn;
  upstream: Upstream & { answer: Parameters<typeof startUpstream>[0] };
  url(path: string, gateway?: number): string;
  stop(): Promise<void>;
}

const ROUTES = `routes:
  - { path: /v1/quotes/:symbol, price: "0.001", upstream: "\${UPSTREAM}" }
  - { path: /v1/deep/:symbol, price: "0.002", upstream: "\${UPSTREAM}" }
  - { path: /v1/files/*, price: "0.001", upstream: "\${UPSTREAM}" }
  - { path: /v1/things, methods: [GET], price: "0.001", upstream: "\${UPSTREAM}" }
  - { path: /v1/things, methods: [POST], price: "0.001", upstream: "\${UPSTREAM}" }
`;

/** Services that sell an upstream of the test, and a chain that the test can make fail. */
export async function startShop(options: ShopOptions = {}): Promise<Shop> {
  const { env, gateways = 1, verifiers = 1, redis, rpcPath = '' } = options;
  const folder = mkdtempSync(join(tmpdir(), 'shop-'));
  writeFileSync(join(folder, 'routes.yaml'), ROUTES);
  const chain = await startChain(options.chain);
  const rpc = await startRpcStandIn(chain.rpcUrl);
  let made = 0;
  const upstream = await startUpstream((_, response) => {
    made += 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ made }));
  });
  const stopOthers = async () => {
    await upstream.stop();
    await rpc.stop();
    await chain.stop();
    rmSync(folder, { recursive: true });
  };
  try {
    const stack = await startStack({
      chain,
      gateways,
      verifiers,
      ...(redis === undefined ? {} : { redis }),
      env: {
        RPC_URL: rpc.url + rpcPath,
        ROUTES_FILE: join(folder, 'routes.yaml'),
        WEATHER_SOURCE: 'sample',
        UPSTREAM: upstream.url,
        ...env,
      },
    });
    return {
      stack,
      chain,
      rpc,
      upstream,
      url: (path, gateway = 0) => stack.gateways[gateway]!.url + path,
      stop: async () => {
        // Requests that the test made to hang must not delay the end.
        rpc.fail(undefined);
        await stack.stop();
        await stopOthers();
      },
    };
  } catch (error) {
    await stopOthers();
    throw error;
  }
}
