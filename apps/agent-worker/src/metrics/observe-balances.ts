import { keepFresh } from '@tollgate/common';
import type { Chain } from '@tollgate/journal';
import { Gauge, type Registry } from 'prom-client';
import { formatEther } from 'viem';

import type { WorkerWallet } from '../wallets/worker-wallet.js';

export interface ObservedBalances {
  wallets: readonly WorkerWallet[];
  chain: Chain;
  isHolding: (walletName: string) => boolean;
}

const FRESH_MS = 60_000;

/** The native coin of the wallets. Read when scraped, rarely, and by the process that holds the lane. */
export function observeBalances(registry: Registry, balances: ObservedBalances): void {
  const { wallets, chain, isHolding } = balances;
  const readings = wallets.map(({ name, address }) => ({
    name,
    read: keepFresh(FRESH_MS, () => chain.readBalance(address)),
  }));
  const gauge: Gauge<'wallet'> = new Gauge({
    name: 'tollgate_agent_wallet_balance',
    help: "The wallet's native coin, in whole units; about a minute old.",
    labelNames: ['wallet'],
    registers: [registry],
    async collect() {
      await Promise.all(
        readings.map(async ({ name, read }) => {
          if (!isHolding(name)) return this.remove({ wallet: name });
          const wei = await read().catch(() => null);
          // A float is exact enough for an alert.
          if (wei !== null) this.set({ wallet: name }, Number(formatEther(wei)));
        }),
      );
    },
  });
  void gauge;
}
