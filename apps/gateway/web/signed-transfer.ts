import {
  createAuthorizationTypedData,
  createPermit2Transfer,
  createPermit2TypedData,
  createTransferAuthorization,
  encodeJsonHeader,
  isAddress,
  isHexBytes,
  PAYMENT_SIGNATURE,
  PERMIT2_ADDRESS,
  type Hex,
  type PaymentRequiredV2,
  type RequirementV2,
  type SignedTransferTerms,
  type TypedData,
} from '@tollgate/protocol';

import { PageProblem } from './chain.js';
import type { ProofHeader } from './purchases.js';
import { explainWallet, type WalletProvider } from './wallets.js';

/** `allowance(address,address)` */
const ALLOWANCE_SELECTOR = '0xdd62ed3e';
/** `authorizationState(address,bytes32)`, which every token with EIP-3009 has. */
const AUTHORIZATION_STATE_SELECTOR = '0xe94a0102';

/**
 * Has the wallet sign the payment that the gateway settles: a Permit2 permit for a route that charges what was used, if
 * the payer has approved Permit2 for the maximum; else an EIP-3009 authorization; and where the token knows none, a
 * permit for the price. No money moves before the gateway has the answer.
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
  if (metered !== undefined && (await hasAllowance(provider, from, metered))) {
    return signPermitTransfer(provider, from, { required, option: metered, chainId });
  }
  if (await takesAuthorizations(provider, from, option)) {
    return signAuthorizedTransfer(provider, from, { required, option, chainId });
  }
  if (!(await hasAllowance(provider, from, option))) {
    throw new PageProblem(
      'This token is paid by signature only after its owner has approved Permit2, and yours has not. Send the transfer instead.',
    );
  }
  return signPermitTransfer(provider, from, { required, option, chainId });
}

interface SignedOption {
  readonly required: PaymentRequiredV2;
  readonly option: RequirementV2;
  readonly chainId: number;
}

async function signAuthorizedTransfer(provider: WalletProvider, from: Hex, signed: SignedOption): Promise<ProofHeader> {
  const { option, chainId } = signed;
  const terms = createTerms(from, option);
  const authorization = createTransferAuthorization(terms);
  const { name, version } = option.extra;
  const domain = { name: String(name), version: String(version), chainId, asset: terms.asset };
  const signature = await signTyped(provider, from, createAuthorizationTypedData(authorization, domain));
  return createProofHeader(signed, { signature, authorization });
}

async function signPermitTransfer(provider: WalletProvider, from: Hex, signed: SignedOption): Promise<ProofHeader> {
  const { option, chainId } = signed;
  const transfer = createPermit2Transfer(createTerms(from, option), readFacilitator(option));
  const signature = await signTyped(provider, from, createPermit2TypedData(transfer, chainId));
  return createProofHeader(signed, { signature, permit2Authorization: transfer.permit2Authorization });
}

/** The relayer that alone may settle a metered payment; null for scheme `exact`. */
function readFacilitator({ scheme, extra }: RequirementV2): Hex | null {
  if (scheme === 'exact') return null;
  const facilitator = extra['facilitatorAddress'];
  if (!isAddress(facilitator)) throw new PageProblem('The gateway names no relayer that may settle this payment.');
  return facilitator;
}

function createTerms(from: Hex, { payTo, asset, amount, maxTimeoutSeconds }: RequirementV2): SignedTransferTerms {
  const nonce = createRandomWord();
  return { from, payTo: payTo as Hex, asset: asset as Hex, amount, maxTimeoutSeconds, nonce };
}

/** Whether Permit2 may move the price. False where the wallet does not answer. */
async function hasAllowance(provider: WalletProvider, from: Hex, { asset, amount }: RequirementV2): Promise<boolean> {
  const data = `${ALLOWANCE_SELECTOR}${wordOf(from)}${wordOf(PERMIT2_ADDRESS)}`;
  const result = await callToken(provider, asset, data).catch(() => null);
  return isWord(result) && BigInt(result) >= BigInt(amount);
}

/** Whether the token has EIP-3009. A wallet that cannot tell is believed to have such a token: most gateways sell for one. */
async function takesAuthorizations(provider: WalletProvider, from: Hex, { asset }: RequirementV2): Promise<boolean> {
  const data = `${AUTHORIZATION_STATE_SELECTOR}${wordOf(from)}${wordOf('0x0')}`;
  try {
    return isWord(await callToken(provider, asset, data));
  } catch (error) {
    return !/revert/i.test(explainWallet(error));
  }
}

function callToken(provider: WalletProvider, token: string, data: string): Promise<unknown> {
  return provider.request({ method: 'eth_call', params: [{ to: token, data }, 'latest'] });
}

function wordOf(hex: string): string {
  return hex.slice(2).toLowerCase().padStart(64, '0');
}

function isWord(value: unknown): value is Hex {
  return typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value);
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

function createRandomWord(): Hex {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
