import {
  encodeJsonHeader,
  isHexBytes,
  listSignedMethods,
  PAYMENT_SIGNATURE,
  payloadOf,
  withSignature,
  type AnySignedMethod,
  type Hex,
  type PaymentRequiredV2,
  type RequirementV2,
  type SignedTransferTerms,
  type TypedData,
} from '@tollgate/protocol';

import type { PayOption } from '../page-data.js';
import type { ProofHeader } from '../purchases.js';
import { PageProblem } from './chain.js';
import { callToken, isWord, wordOf } from './token-calls.js';
import { explainWallet, type WalletProvider } from './wallets.js';

/** `allowance(address,address)` */
const ALLOWANCE_SELECTOR = '0xdd62ed3e';
/** `authorizationState(address,bytes32)`, which every token with EIP-3009 has. */
const AUTHORIZATION_STATE_SELECTOR = '0xe94a0102';

/**
 * Has the wallet sign the payment that the gateway settles: a metered one for a route that charges what was used, else
 * one of the price; by the first method that can move this payer's tokens. No money moves before the gateway has the
 * answer.
 */
export async function signInWallet(
  provider: WalletProvider,
  from: Hex,
  required: PaymentRequiredV2 | null,
  { chain }: PayOption,
): Promise<ProofHeader> {
  const optionOf = (asked: string) => required?.accepts.find(({ scheme }) => scheme === asked);
  const option = optionOf('exact');
  if (required === null || option === undefined)
    throw new PageProblem('This gateway takes no signature here. Send the transfer instead.');
  for (const offered of [optionOf('upto') ?? [], option].flat()) {
    for (const method of listSignedMethods().filter((one) => isAskedFor(one, offered))) {
      if (await canMove(method, provider, from, offered))
        return signBy(method, provider, from, { required, option: offered, chainId: chain.id });
    }
  }
  const spenders = listSignedMethods().flatMap(({ spender, title }) => (spender === null ? [] : [title]));
  throw new PageProblem(
    `This token is paid by signature only after its owner has approved ${spenders.join(' or ')}, and yours has not. Send the transfer instead.`,
  );
}

/** Whether the requirement is paid by the method: of its scheme, and the one that it names, if it names one. */
function isAskedFor({ schemes, transferMethod }: AnySignedMethod, { scheme, extra }: RequirementV2): boolean {
  const { assetTransferMethod = transferMethod } = extra;
  return schemes.some((one) => one === scheme) && assetTransferMethod === transferMethod;
}

interface SignedOption {
  readonly required: PaymentRequiredV2;
  readonly option: RequirementV2;
  readonly chainId: number;
}

async function signBy(
  method: AnySignedMethod,
  provider: WalletProvider,
  from: Hex,
  { required, option, chainId }: SignedOption,
): Promise<ProofHeader> {
  const payment = method.create(createTerms(from, option), option);
  const signature = await signTyped(provider, from, method.typedDataOf(payment, chainId));
  const { resource, extensions } = required;
  const payload = payloadOf(withSignature(payment, signature));
  return {
    name: PAYMENT_SIGNATURE,
    value: encodeJsonHeader({ x402Version: 2, resource, accepted: option, extensions, payload }),
  };
}

function createTerms(from: Hex, { payTo, asset, amount, maxTimeoutSeconds }: RequirementV2): SignedTransferTerms {
  const nonce = createRandomWord();
  return { from, payTo: payTo as Hex, asset: asset as Hex, amount, maxTimeoutSeconds, nonce };
}

/** Whether the method can move the price: the token does it itself, or a contract by the payer's allowance. */
function canMove(
  { spender }: AnySignedMethod,
  provider: WalletProvider,
  from: Hex,
  option: RequirementV2,
): Promise<boolean> {
  return spender === null ? takesAuthorizations(provider, from, option) : hasAllowance(provider, from, spender, option);
}

/** Whether the contract may move the price. False where the wallet does not answer. */
async function hasAllowance(
  provider: WalletProvider,
  from: Hex,
  spender: Hex,
  { asset, amount }: RequirementV2,
): Promise<boolean> {
  const data = `${ALLOWANCE_SELECTOR}${wordOf(from)}${wordOf(spender)}`;
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

function createRandomWord(): Hex {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
