import { observeCounts, observeGauge, observeSamples, keepFresh } from '@tollgate/common';
import type { RedisClient } from '@tollgate/redis';
import type { ContractWallets } from '@tollgate/settlement';
import {
  createQueueKeys,
  queueOfChain,
  SETTLE_QUEUE,
  VERIFY_QUEUE,
  type RequestReplyServer,
} from '@tollgate/transport';
import type { WaitingRoom } from '@tollgate/verification';
import { type Registry, Counter } from 'prom-client';

/** Metrics of the verify and settle queues, and of the work in this process. `sparing`: what makes look-ups unnecessary. */
export function observeQueues(
  registry: Registry,
  parts: {
    server: RequestReplyServer;
    chainId: number;
    waitingRoom: WaitingRoom;
    queueRedis: RedisClient;
    sparing: readonly { readonly counts: Readonly<Record<string, number>> }[];
  },
): void {
  const { server, chainId, waitingRoom, queueRedis, sparing } = parts;
  observeCounts(registry, 'tollgate_verify_requests', 'Requests of the verify queue by outcome.', () => server.counts);
  observeCounts(registry, 'tollgate_lookups_spared', 'Look-ups that were not needed, by reason.', () =>
    sparing.reduce((all, { counts }) => ({ ...all, ...counts }), {}),
  );
  observeGauge(registry, 'tollgate_verifications_in_flight', 'Payments being verified.', () => server.inFlight);
  observeGauge(
    registry,
    'tollgate_verifications_waiting',
    'Payments that wait for the chain.',
    () => waitingRoom.waiting,
  );
  observeGauge(
    registry,
    'tollgate_verify_queue_length',
    'Questions in the verify queue that no verifier has taken yet.',
    () => queueRedis.llen(createQueueKeys(queueOfChain(VERIFY_QUEUE, chainId)).requests),
  );
  observeGauge(
    registry,
    'tollgate_settle_queue_length',
    'Questions in the settle queue that no relayer has taken yet.',
    () => queueRedis.llen(createQueueKeys(queueOfChain(SETTLE_QUEUE, chainId)).requests),
  );
}

/** Whether payments in each option are judged. */
export function observeOptions(
  registry: Registry,
  tokens: { readonly readiness: readonly { readonly option: string; readonly isReady: boolean }[] },
): void {
  const help = '1: payments in the option are judged; 0: its token has other decimals, or has not told them.';
  const read = () =>
    Promise.resolve(tokens.readiness.map(({ option, isReady }) => ({ labels: { option }, value: Number(isReady) })));
  observeSamples(registry, { name: 'tollgate_option_ready', help, labelNames: ['option'] }, read);
}

/** Gauges read in the same scrape share one reading. */
const FRESH_MS = 1_000;

/** Gas that contract wallets and their deployments have used up, over all verifiers; read from Redis at each scrape. */
export function observeContractWallets(registry: Registry, wallets: Pick<ContractWallets, 'read'>): void {
  const read = keepFresh(FRESH_MS, () => wallets.read('calls'));
  const readDeployments = keepFresh(FRESH_MS, () => wallets.read('deployments'));
  observeGauge(
    registry,
    'tollgate_contract_wallet_gas_burnt',
    'Gas that payments of contract wallets burnt in the last hour without being settled.',
    async () => (await read()).usedGas,
  );
  observeGauge(
    registry,
    'tollgate_contract_wallet_gas_left',
    'Gas that contract wallets may still burn; 0: their signed payments are refused.',
    async () => (await read()).leftGas,
  );
  observeGauge(
    registry,
    'tollgate_deployment_gas_used',
    'Gas that transactions that deploy wallets took in the last hour, also those that succeeded.',
    async () => (await readDeployments()).usedGas,
  );
  observeGauge(
    registry,
    'tollgate_deployment_gas_left',
    'Gas that they may still take; 0: payments of wallets that are not deployed are refused.',
    async () => (await readDeployments()).leftGas,
  );
}

/** Counts the gas that this process saw burnt. */
export function countBurntGas(registry: Registry): (gas: number) => void {
  const counter = new Counter({
    name: 'tollgate_contract_wallet_gas_burnt_total',
    help: 'Gas of transactions that this process saw fail for payers with code.',
    registers: [registry],
  });
  return (gas) => counter.inc(gas);
}
