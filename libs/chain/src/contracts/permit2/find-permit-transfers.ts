import { readTransferLog, type EmittedLog, type Hex, type SignedPermit, type TransferLog } from '@tollgate/protocol';

import { PROXIES } from './permit-proxy.js';

/** The transfer that a permit promises: `asset` to `payTo`. Addresses are lower case. */
export interface PromisedPermit {
  asset: Hex;
  payTo: Hex;
  payment: SignedPermit;
}

/** A transfer that a permit caused. */
export interface PermitTransfer extends TransferLog {
  /** The contract that settled it: the proxy of the permit's scheme. */
  proxy: Hex;
}

/** keccak256 of `Settled()` and of `SettledWithPermit()`, the last event that the proxies emit. */
const SETTLED: ReadonlySet<string | undefined> = new Set([
  '0x97088ec3606cfe8cc112180570d03fcde05f9b8e1bfef8e27784eaf5dd5691b6',
  '0xde5b89d10fc800c459329c382fabfcad0be0ed7e5328e01fae04e507b09ef5d8',
]);
const PROXY_ADDRESSES: ReadonlySet<Hex> = new Set(Object.values(PROXIES));

/**
 * The transfers of an asset that permits caused, by the position of their logs. The token's logs come directly before
 * the proxy's; a token that keeps a fee emits several transfers of the payer.
 */
export function findPermitTransfers(logs: readonly EmittedLog[], asset: Hex): Map<number, PermitTransfer> {
  const found = new Map<number, PermitTransfer>();
  for (const [end, { address: proxy, topics }] of logs.entries()) {
    if (!PROXY_ADDRESSES.has(proxy) || !SETTLED.has(topics[0])) continue;
    let payer: Hex | undefined;
    for (let position = end - 1; ; position--) {
      const log = logs[position];
      if (log?.address !== asset) break;
      const transfer = readTransferLog(log);
      payer ??= transfer?.from;
      if (transfer && transfer.from === payer) found.set(position, { ...transfer, proxy });
    }
  }
  return found;
}

/** The amount that the proxy of the permit's scheme moved from the payer to the recipient; null if none. */
export function findMoved(
  logs: readonly EmittedLog[],
  { asset, payTo, payment: { scheme, permit2Authorization } }: PromisedPermit,
): bigint | null {
  const own = [...findPermitTransfers(logs, asset).values()].find(
    ({ from, to, proxy }) => from === permit2Authorization.from && to === payTo && proxy === PROXIES[scheme],
  );
  return own?.amountBaseUnits ?? null;
}
