import { formatTokenAmount } from '@tollgate/protocol';

import { formatTable } from '../shared/format-table.js';
import type { WalletState } from './read-wallet-states.js';

const NATIVE_DECIMALS = 18;

export function formatWallets(wallets: readonly WalletState[]): string {
  const table = formatTable(
    ['WALLET', 'ADDRESS', 'CHAIN', 'BALANCE', 'NEXT NONCE', 'ON CHAIN', 'OPEN', 'IN FLIGHT', 'STATE'],
    wallets.map(({ name, role, lane, status, onChain }) => [
      name ?? (role === 'relayer' ? '(relayer)' : '(no name)'),
      lane.address,
      String(lane.chainId),
      onChain === null ? '-' : formatTokenAmount(onChain.balanceWei, NATIVE_DECIMALS),
      status.nextNonce === null ? '-' : String(status.nextNonce),
      onChain === null ? '-' : String(onChain.pendingNonce),
      String(status.openJobs),
      String(status.unminedSteps),
      stateOf({ name, role, lane, status }),
    ]),
  );
  const isSilent = wallets.some(({ onChain }) => onChain === null);
  return isSilent ? `${table}\n\n- on chain: no RPC server of that chain answered. Set RPC_URL.` : table;
}

/** For programs: amounts in wei, as text. */
export function describeWallets(wallets: readonly WalletState[]) {
  return wallets.map(({ name, role, lane, status, onChain }) => ({
    name,
    role,
    address: lane.address,
    chainId: lane.chainId,
    balanceWei: onChain?.balanceWei.toString() ?? null,
    pendingNonce: onChain?.pendingNonce ?? null,
    nextNonce: status.nextNonce,
    openJobs: status.openJobs,
    inFlight: status.unminedSteps,
    paused: status.paused,
    frozen: status.frozen,
    heldBy: status.lease?.owner ?? null,
  }));
}

const FROZEN = {
  restarted: 'frozen: Redis restarted; continues once a worker has compared it with the chain',
  lost: 'frozen: Redis may have lost writes; continues once a worker has compared it with the chain',
  chain_ahead: 'frozen: the chain has transactions that the journal does not know; adopt it again',
} as const;

function stateOf({ name, role, lane, status }: Omit<WalletState, 'onChain'>): string {
  if (status.nextNonce === null) return `not adopted: tollgate wallets adopt ${name ?? lane.address}`;
  const states = [
    ...(status.frozen === null ? [] : [FROZEN[status.frozen]]),
    ...(status.paused === null ? [] : [`paused: ${status.paused.message}`]),
  ];
  if (states.length > 0) return states.join('; ');
  if (status.lease !== null) return `held by ${status.lease.owner}`;
  return role === 'relayer' ? 'a relayer, but no verifier holds it' : 'adopted, but no worker holds it';
}
