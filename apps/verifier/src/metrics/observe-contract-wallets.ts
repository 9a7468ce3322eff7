import { keepFresh, observeGauge } from '@tollgate/common';
import type { ContractWallets } from '@tollgate/settlement';
import { Counter, type Registry } from 'prom-client';

/** Gauges read in the same scrape share one reading. */
const FRESH_MS = 1_000;

/** Gas that contract wallets have burnt, over all verifiers; read from Redis at each scrape. */
export function observeContractWallets(registry: Registry, wallets: Pick<ContractWallets, 'read'>): void {
  const read = keepFresh(FRESH_MS, () => wallets.read());
  observeGauge(
    registry,
    'tollgate_contract_wallet_gas_burnt',
    'Gas that payments of contract wallets burnt in the last hour without being settled.',
    async () => (await read()).burntGas,
  );
  observeGauge(
    registry,
    'tollgate_contract_wallet_gas_left',
    'Gas that contract wallets may still burn; 0: their signed payments are refused.',
    async () => (await read()).leftGas,
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
