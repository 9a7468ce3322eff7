import type { PaymentOption } from '@tollgate/config';

/** The option that the settings of `startGateway` describe. */
export function createOption(changes: Partial<PaymentOption> = {}): PaymentOption {
  const chain = { name: 'default', id: 1328, network: 'chain-testnet', confirmations: 1, explorer: null };
  const shown = { title: null, coin: 'ETH', walletRpc: null };
  return {
    name: 'default',
    entry: 'default',
    chain: { ...chain, ...shown, rpc: [], reconcileRpc: [], reconcileConfirmations: null, relayers: null },
    asset: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
    symbol: 'USDC',
    decimals: 6,
    domainName: 'USDC',
    domainVersion: '2',
    payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    rate: '1',
    methods: null,
    ...changes,
    ...(changes.name !== undefined && changes.entry === undefined && { entry: changes.name }),
  };
}
