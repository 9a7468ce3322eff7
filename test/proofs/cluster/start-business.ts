import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startChain, type DevnetWithProtocols } from '../../../tools/devnet/chain/chain.js';
import { keepParts } from '../../../tools/devnet/processes/keep-parts.js';
import { createOperatorKey } from '../../../tools/devnet/stack/create-operator-key.js';
import { startStack, type Stack } from '../../../tools/devnet/stack/stack.js';
import { startUpstream } from '../../flows/start-upstream.js';
import { connectOperator, type AskOperator } from '../../harness/agents/operator-client.js';
import { startBalancedClient, type BalancedClient } from '../../harness/network/balanced-client.js';
import { createRandom } from '../../harness/random.js';
import { planAgentJobs, type ChaosJob } from '../plan-agent-jobs.js';
import type { Site } from './sites.js';

const WALLETS = ['north', 'south'];
const PLANNED_JOBS = 20_000;
const ROUTES = `routes:
  - { path: /v1/quotes/:symbol, price: "0.001", upstream: "\${UPSTREAM}" }
  - { path: /v1/first/:symbol, price: "0.001", settle: before, upstream: "\${UPSTREAM}" }
`;

/** Everything that serves payers and does jobs, on a site that is made to fail. */
export interface Business {
  stack: Stack;
  chain: DevnetWithProtocols;
  client: BalancedClient;
  token: string;
  plannedJobs: ChaosJob[];
  /** Asks the bookkeeper. */
  askBook: AskOperator;
  stop(): Promise<void>;
}

export async function startBusiness(site: Site, seed: number): Promise<Business> {
  const { keep, stop } = keepParts();
  try {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-cluster-'));
    keep({ stop: () => Promise.resolve(rmSync(folder, { recursive: true, force: true })) });
    writeFileSync(join(folder, 'routes.yaml'), ROUTES);
    const chain = keep(await startChain({ protocols: true, blockTimeSeconds: 1 }));
    let sold = 0;
    const upstream = keep(await startUpstream((_, response) => response.end(`answer ${(sold += 1)}`)));
    // The stack watches it, and here it is killed on purpose.
    const redis = { ...site.nodes[0]!.server, url: site.url, exited: () => new Promise<never>(() => undefined) };
    const stack = keep(
      await startStack({
        redis,
        chain,
        gateways: 2,
        verifiers: 2,
        agentWorkers: 2,
        agentWallets: Object.fromEntries(WALLETS.map((name) => [name, {}])),
        book: { folder: join(folder, 'book'), signingKey: randomBytes(32).toString('hex') },
        serviceEnv: { bookkeeper: { RECONCILE_GRACE_SECONDS: '5', OPERATOR_RATE_LIMIT_PER_MINUTE: '0' } },
        env: {
          ROUTES_FILE: join(folder, 'routes.yaml'),
          UPSTREAM: upstream.url,
          SIGNED_PAYMENTS: 'true',
          LEDGER_DURABILITY: 'replica',
          LEASE_MS: '1500',
          VERIFY_DEADLINE_MS: '6000',
          VERIFY_RETRY_MS: '1000',
          RELAYER_LEASE_MS: '1000',
          RELAYER_POLL_MS: '200',
          LANE_POLL_MS: '200',
          LANE_LEASE_MS: '3000',
        },
      }),
    );
    const client = startBalancedClient(stack.gateways.map(({ url }) => url));
    keep({ stop: () => Promise.resolve(client.stop()) });
    const { token } = await stack.agents!.createApiKey(['submit', 'read']);
    const plan = { count: PLANNED_JOBS, wallets: WALLETS, random: createRandom(seed) };
    const askBook = connectOperator(stack.bookkeeper!.url, await createOperatorKey(site.url));
    return { stack, chain, client, token, plannedJobs: planAgentJobs(chain, plan), askBook, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
