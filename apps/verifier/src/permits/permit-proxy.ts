import { EXACT_PROXY_ADDRESS, UPTO_PROXY_ADDRESS, type Hex, type SignedPermit } from '@tollgate/protocol';
import { decodeFunctionData, encodeFunctionData, parseAbi } from 'viem';

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

/** Which permit a call of a proxy settles, and for how much. */
export interface PermitCall {
  owner: Hex;
  token: Hex;
  /** As decimal text. */
  nonce: string;
  to: Hex;
  amountBaseUnits: bigint;
}

/**
 * The call that settles a permit. Under scheme `upto` the facilitator in its witness sends it, under `exact` anybody.
 * @param amountBaseUnits what is moved; under `exact` all that is permitted is
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

/** Reads the calldata of a transaction to a proxy; null when it settles no permit. */
export function readPermitCall(scheme: SignedPermit['scheme'], calldata: Hex): PermitCall | null {
  try {
    return scheme === 'exact' ? readExactCall(calldata) : readUptoCall(calldata);
  } catch {
    // Of another function, or cut short: the proxy would have refused it.
    return null;
  }
}

function readExactCall(data: Hex): PermitCall {
  const { functionName, args } = decodeFunctionData({ abi: exactAbi, data });
  const [permit, owner, witness] = functionName === 'settle' ? args : ([args[1], args[2], args[3]] as const);
  return describe(permit, owner, witness.to, permit.permitted.amount);
}

function readUptoCall(data: Hex): PermitCall {
  const { functionName, args } = decodeFunctionData({ abi: uptoAbi, data });
  const [permit, amount, owner, witness] =
    functionName === 'settle' ? args : ([args[1], args[2], args[3], args[4]] as const);
  return describe(permit, owner, witness.to, amount);
}

function describe(
  { permitted, nonce }: { permitted: { token: Hex }; nonce: bigint },
  owner: Hex,
  to: Hex,
  amountBaseUnits: bigint,
): PermitCall {
  const lower = (address: Hex): Hex => address.toLowerCase() as Hex;
  return {
    owner: lower(owner),
    token: lower(permitted.token),
    nonce: nonce.toString(),
    to: lower(to),
    amountBaseUnits,
  };
}
