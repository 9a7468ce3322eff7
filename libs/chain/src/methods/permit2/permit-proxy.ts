import {
  EXACT_PROXY_ADDRESS,
  lowerHex,
  readTransferLog,
  UPTO_PROXY_ADDRESS,
  type EmittedLog,
  type Hex,
  type MeteredPermit2Authorization,
  type Permit2Authorization,
  type Permit2Transfer,
  type SignedPermit,
  type TransferLog,
} from '@tollgate/protocol';
import { decodeFunctionData, encodeFunctionData, parseAbi } from 'viem';

import type { PromisedMove } from '../chain-method.js';

const shared = [
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct Permit { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct TokenPermit { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }',
] as const;
const exactAbi = parseAbi([
  ...shared,
  'struct Witness { address to; uint256 validAfter; }',
  'function settle(Permit permit, address owner, Witness witness, bytes signature)',
  'function settleWithPermit(TokenPermit tokenPermit, Permit permit, address owner, Witness witness, bytes signature)',
]);
const uptoAbi = parseAbi([
  ...shared,
  'struct Witness { address to; address facilitator; uint256 validAfter; }',
  'function settle(Permit permit, uint256 amount, address owner, Witness witness, bytes signature)',
  'function settleWithPermit(TokenPermit tokenPermit, Permit permit, uint256 amount, address owner, Witness witness, bytes signature)',
]);

/** What the payer of a permit has signed. */
export type PermitTerms = { kind: 'permit2' } & Permit2Transfer;

/** The contract that settles the permits of each scheme. */
export const PROXIES: Readonly<Record<SignedPermit['scheme'], Hex>> = {
  exact: EXACT_PROXY_ADDRESS,
  upto: UPTO_PROXY_ADDRESS,
};

/**
 * The permit that a call of a proxy settles, and the amount. Hexadecimal text is in lower case, numbers are decimal
 * text.
 */
export interface PermitCall {
  permit: Omit<Permit2Authorization, 'spender' | 'witness'>;
  witness: Partial<MeteredPermit2Authorization['witness']>;
  amountBaseUnits: bigint;
}

/**
 * Plans the call that settles a permit. Under scheme `upto` only the facilitator in its witness may send it, under
 * `exact` any account.
 * @param amountBaseUnits the amount to move; under `exact` this is always the permitted amount
 */
export function planPermitTransfer(payment: SignedPermit, amountBaseUnits: bigint): { to: Hex; data: Hex } {
  const { scheme, permit2Authorization: signed, signature } = payment;
  const permit = {
    permitted: { token: signed.permitted.token, amount: BigInt(signed.permitted.amount) },
    nonce: BigInt(signed.nonce),
    deadline: BigInt(signed.deadline),
  };
  const { to } = signed.witness;
  const validAfter = BigInt(signed.witness.validAfter);
  const functionName = 'settle';
  if (scheme === 'exact') {
    const args = [permit, signed.from, { to, validAfter }, signature] as const;
    return { to: PROXIES.exact, data: encodeFunctionData({ abi: exactAbi, functionName, args }) };
  }
  const { facilitator } = payment.permit2Authorization.witness;
  const args = [permit, amountBaseUnits, signed.from, { to, facilitator, validAfter }, signature] as const;
  return { to: PROXIES.upto, data: encodeFunctionData({ abi: uptoAbi, functionName, args }) };
}

/** Reads the calldata of a transaction to a proxy; null when it does not settle a permit. */
export function readPermitCall(scheme: SignedPermit['scheme'], calldata: Hex): PermitCall | null {
  try {
    return scheme === 'exact' ? readExactCall(calldata) : readUptoCall(calldata);
  } catch {
    // Another function, or truncated calldata: the proxy would have reverted.
    return null;
  }
}

function readExactCall(data: Hex): PermitCall {
  const { functionName, args } = decodeFunctionData({ abi: exactAbi, data });
  const [permit, owner, { to, validAfter }] = functionName === 'settle' ? args : ([args[1], args[2], args[3]] as const);
  const witness = { to: lowerHex(to), validAfter: validAfter.toString() };
  return { permit: describe(permit, owner), witness, amountBaseUnits: permit.permitted.amount };
}

function readUptoCall(data: Hex): PermitCall {
  const { functionName, args } = decodeFunctionData({ abi: uptoAbi, data });
  const [permit, amountBaseUnits, owner, { to, facilitator, validAfter }] =
    functionName === 'settle' ? args : ([args[1], args[2], args[3], args[4]] as const);
  const witness = { to: lowerHex(to), facilitator: lowerHex(facilitator), validAfter: validAfter.toString() };
  return { permit: describe(permit, owner), witness, amountBaseUnits };
}

interface EncodedPermit {
  permitted: { token: Hex; amount: bigint };
  nonce: bigint;
  deadline: bigint;
}

function describe({ permitted, nonce, deadline }: EncodedPermit, owner: Hex): PermitCall['permit'] {
  return {
    from: lowerHex(owner),
    permitted: { token: lowerHex(permitted.token), amount: permitted.amount.toString() },
    nonce: nonce.toString(),
    deadline: deadline.toString(),
  };
}

/**
 * Whether a call settles this very permit: a payer may sign several permits with one nonce, for other amounts and
 * senders.
 */
export function isCallOf({ permit, witness }: PermitCall, { permit2Authorization: signed }: PermitTerms): boolean {
  return (
    permit.from === signed.from &&
    permit.permitted.token === signed.permitted.token &&
    permit.permitted.amount === signed.permitted.amount &&
    permit.nonce === signed.nonce &&
    permit.deadline === signed.deadline &&
    witness.to === signed.witness.to &&
    witness.validAfter === signed.witness.validAfter &&
    witness.facilitator === ('facilitator' in signed.witness ? signed.witness.facilitator : undefined)
  );
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
  { asset, payTo, payment: { scheme, permit2Authorization } }: PromisedMove<PermitTerms>,
): bigint | null {
  const own = [...findPermitTransfers(logs, asset).values()].find(
    ({ from, to, proxy }) => from === permit2Authorization.from && to === payTo && proxy === PROXIES[scheme],
  );
  return own?.amountBaseUnits ?? null;
}
