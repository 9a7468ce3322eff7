import {
  EXACT_PROXY_ADDRESS,
  lowerHex,
  PERMIT2_ADDRESS,
  readTransferLog,
  UPTO_PROXY_ADDRESS,
  type EmittedLog,
  type Hex,
  type MeteredPermit2Authorization,
  type Permit2Authorization,
  type SignedPermit,
  type TransferLog,
} from '@tollgate/protocol';
import { decodeFunctionData, encodeFunctionData, parseAbi } from 'viem';

import { encodeAddress, encodeNumber } from '../../contracts/abi-encoding.js';
import {
  askContract,
  askForBalance,
  askForCode,
  hasCode,
  readCall,
  readCode,
  readWord,
  tryCall,
  type ChainQuestion,
  type TriedCall,
} from '../../contracts/contract-question.js';
import { readSignatureAnswer } from '../../contracts/contract-signature.js';
import type { RpcCall, RpcResult } from '../../rpc/rpc-endpoint.js';
import type { UnsettledView } from '../chain-method.js';

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

/** The fields by which Permit2 identifies a permit. */
export interface PermitName {
  owner: Hex;
  /** As decimal text. */
  nonce: string;
}

export interface PermitQuestion extends PermitName {
  token: Hex;
  /** Simulated from its sender's address: under scheme `upto` it fails for every other sender. */
  settlement: TriedCall;
  /** From `askForSignature`; null when the payer's own key made the signature. */
  signatureCheck: RpcCall | null;
}

/**
 * Whether to simulate the settlement. It may run the payer's own code, and Permit2 passes on whatever that code reverts
 * with.
 */
interface PermitSimulation {
  isSimulated: boolean;
}

export interface PermitView extends UnsettledView {
  /** A contract exists at the proxy address that settles the permit. */
  hasProxy: boolean;
  /** How much of the token the payer lets Permit2 move. */
  allowanceBaseUnits: bigint | null;
}

/** `nonceBitmap(address,uint256)` (Permit2) */
const NONCE_BITMAP = '0x4fe02b44';
/** `allowance(address,address)` (ERC-20) */
const ALLOWANCE = '0xdd62ed3e';

/** The calls of one round trip, and the function that reads their results. */
export function askAboutPermit(question: PermitQuestion, { isSimulated }: PermitSimulation): ChainQuestion<PermitView> {
  const { owner, token, settlement, signatureCheck } = question;
  const signatureCalls = signatureCheck === null ? [] : [signatureCheck];
  return {
    // The nonce goes last. A node answers the calls in turn, so a payment that is settled in between shows as taken.
    calls: [
      askForBalance(token, owner),
      askContract(token, `${ALLOWANCE}${encodeAddress(owner)}${encodeAddress(PERMIT2_ADDRESS)}`),
      askForCode(settlement.to),
      askForCode(owner),
      ...signatureCalls,
      ...(isSimulated ? [tryCall(settlement)] : []),
      askForPermitNonce(question),
    ],
    read: (results, headBlockNumber) => {
      const [balance, allowance, proxy, code, check] = results;
      const payerCode = readCode(code);
      return {
        isNonceTaken: readPermitNonce(question, results.at(-1)),
        hasProxy: hasCode(proxy),
        balanceBaseUnits: readWord(balance),
        allowanceBaseUnits: readWord(allowance),
        wouldSettle: isSimulated && readCall(results.at(-2)) !== null,
        payerCode,
        hasPayerCode: payerCode !== '0x',
        signatureAnswer: signatureCheck === null ? null : readSignatureAnswer(check),
        headBlockNumber,
      };
    },
  };
}

/** The call that reads the word of Permit2's nonce bitmap that holds this nonce's bit. */
export function askForPermitNonce({ owner, nonce }: PermitName, blockNumber?: number): RpcCall {
  const data = `${NONCE_BITMAP}${encodeAddress(owner)}${encodeNumber(BigInt(nonce) >> 8n)}`;
  return askContract(PERMIT2_ADDRESS, data, blockNumber);
}

/** Whether the nonce is taken; null where Permit2 is not deployed. */
export function readPermitNonce({ nonce }: PermitName, result?: RpcResult): boolean | null {
  const word = readWord(result);
  return word === null ? null : ((word >> (BigInt(nonce) & 0xffn)) & 1n) === 1n;
}
