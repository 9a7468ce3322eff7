import {
  createAuthorizationTypedData,
  createPermit2TypedData,
  encodeJsonHeader,
  isAddress,
  isHexBytes,
  PAYMENT_SIGNATURE,
  PERMIT2_ADDRESS,
  UPTO_PROXY_ADDRESS,
  type Hex,
  type PaymentRequiredV2,
  type Permit2Transfer,
  type RequirementV2,
  type TypedData,
} from '@tollgate/protocol';

import { PageProblem } from './chain.js';
import type { ProofHeader } from './purchases.js';
import type { WalletProvider } from './wallets.js';

/** A signature is valid from some time before now, since the chain's clock may be behind. */
const CLOCK_SLACK_SECONDS = 600;
/** A signature is never valid for longer: during it the money may still be taken. */
const LONGEST_SECONDS = 3600;

/**
 * Has the wallet sign the payment that the gateway settles (EIP-3009, or Permit2 for a route that charges what was
 * used). No money moves before the gateway has the answer.
 */
export async function signInWallet(
  provider: WalletProvider,
  from: Hex,
  required: PaymentRequiredV2,
  chainId: number,
): Promise<ProofHeader> {
  const option = required.accepts.find(({ scheme }) => scheme === 'exact');
  if (option === undefined) throw new PageProblem('This gateway takes no signature here. Send the transfer instead.');
  const metered = required.accepts.find(({ scheme }) => scheme === 'upto');
  if (metered !== undefined && (await readAllowance(provider, from, metered)) >= BigInt(metered.amount)) {
    return signPermitTransfer(provider, from, { required, option: metered, chainId });
  }
  return signAuthorizedTransfer(provider, from, { required, option, chainId });
}

interface SignedOption {
  readonly required: PaymentRequiredV2;
  readonly option: RequirementV2;
  readonly chainId: number;
}

async function signAuthorizedTransfer(provider: WalletProvider, from: Hex, signed: SignedOption): Promise<ProofHeader> {
  const { option, chainId } = signed;
  const { payTo, amount, asset } = option;
  const authorization = { from, to: payTo as Hex, value: amount, ...createPeriod(option), nonce: createRandomWord() };
  const { name, version } = option.extra;
  const domain = { name: String(name), version: String(version), chainId, asset: asset as Hex };
  const signature = await signTyped(provider, from, createAuthorizationTypedData(authorization, domain));
  return createProofHeader(signed, { signature, authorization });
}

async function signPermitTransfer(provider: WalletProvider, from: Hex, signed: SignedOption): Promise<ProofHeader> {
  const { option, chainId } = signed;
  const facilitator = option.extra['facilitatorAddress'];
  if (!isAddress(facilitator)) throw new PageProblem('The gateway names no relayer that may settle this payment.');
  const { validAfter, validBefore: deadline } = createPeriod(option);
  const transfer: Permit2Transfer = {
    scheme: 'upto',
    permit2Authorization: {
      ...{ from, permitted: { token: option.asset as Hex, amount: option.amount }, spender: UPTO_PROXY_ADDRESS },
      ...{ nonce: BigInt(createRandomWord()).toString(), deadline },
      witness: { to: option.payTo as Hex, facilitator, validAfter },
    },
  };
  const signature = await signTyped(provider, from, createPermit2TypedData(transfer, chainId));
  return createProofHeader(signed, { signature, permit2Authorization: transfer.permit2Authorization });
}

/** Permit2's allowance for the payer's tokens; 0 where the wallet does not answer. */
async function readAllowance(provider: WalletProvider, from: Hex, { asset }: RequirementV2): Promise<bigint> {
  const word = (address: string): string => address.slice(2).toLowerCase().padStart(64, '0');
  const call = { to: asset, data: `0xdd62ed3e${word(from)}${word(PERMIT2_ADDRESS)}` };
  const result = await provider.request({ method: 'eth_call', params: [call, 'latest'] }).catch(() => '0x0');
  return typeof result === 'string' && /^0x[0-9a-f]{1,64}$/i.test(result) ? BigInt(result) : 0n;
}

async function signTyped(provider: WalletProvider, from: Hex, typed: TypedData): Promise<Hex> {
  const domain = typed.domain.version === undefined ? DOMAIN.filter(({ name }) => name !== 'version') : DOMAIN;
  const whole = { ...typed, types: { EIP712Domain: domain, ...typed.types } };
  const text = JSON.stringify(whole, (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
  const signature = await provider.request({ method: 'eth_signTypedData_v4', params: [from, text] });
  if (!isHexBytes(signature)) throw new PageProblem('The wallet gave no signature. Nothing was paid.');
  return signature;
}

const DOMAIN = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];

function createProofHeader({ required, option }: SignedOption, payload: object): ProofHeader {
  const { resource, extensions } = required;
  return {
    name: PAYMENT_SIGNATURE,
    value: encodeJsonHeader({ x402Version: 2, resource, accepted: option, extensions, payload }),
  };
}

function createPeriod({ maxTimeoutSeconds }: RequirementV2): { validAfter: string; validBefore: string } {
  const now = Math.floor(Date.now() / 1000);
  return {
    validAfter: String(now - CLOCK_SLACK_SECONDS),
    validBefore: String(now + Math.min(maxTimeoutSeconds, LONGEST_SECONDS)),
  };
}

function createRandomWord(): Hex {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
