import { encodeJsonHeader, type Hex, type PaymentRequiredV2, type RequirementV2 } from '@tollgate/protocol';

import { readHeader } from '../../apps/gateway/test/present-payments.js';
import type { Devnet } from '../../tools/devnet/chain/chain.js';
import { mineTransfers } from '../../tools/devnet/chain/mine-transfers.js';
import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import type { TwoChains } from '../../tools/devnet/chain/two-chains.js';
import { approvePermit2, signPermit } from '../harness/chain/sign-permit.js';
import { createProof } from '../harness/payments/pay.js';

/** The options of the payments file, in its order: USDC on each chain, and WDEV on the second. */
const OPTIONS = 3;
/** In base units, at a price of 0.001. */
const PRICES = [1_000n, 1_000n, 400_000_000_000n] as const;
/** How long a payment can be redeemed after it is made, before the run: longer than a run. */
export const VALID_SECONDS = 14_400;

type Method =
  /** A transfer that is locked to its challenge, and one that is not. */
  | 'locked'
  | 'bare'
  /** EIP-3009, and for the token without it Permit2. */
  | 'signed';

/** Which option a payment is made in, by its place there, and how. A proof without a reference means the first of a chain. */
const KINDS: readonly (readonly [option: number, method: Method])[] = [
  [0, 'locked'],
  [1, 'locked'],
  [2, 'locked'],
  [0, 'bare'],
  [1, 'bare'],
  [0, 'signed'],
  [1, 'signed'],
  [2, 'signed'],
];

/** A payment, by its name in this run, and the headers that redeem it. */
export interface ChaosPayment {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
}

type Chains = Pick<TwoChains, 'first' | 'second'>;

/** Payments of every kind in turn, mined or signed. @param urlOf the resource, at a gateway */
export async function preparePayments(
  chains: Chains,
  count: number,
  urlOf: (index: number) => string,
): Promise<ChaosPayment[]> {
  const { first, second } = chains;
  const tokens = [first, second, { ...second, asset: second.plainToken }];
  await approvePermit2(second, { owner: second.accounts[0]!.address, token: second.plainToken });
  const wanted = Array.from({ length: count }, (_, index) => KINDS[index % KINDS.length]!);
  const offers: RequirementV2[] = [];
  for (const [index, [option]] of wanted.entries()) offers.push(await readOffer(urlOf(index), option));
  const hashes = await transferAll(tokens, wanted, offers);
  const payments: ChaosPayment[] = [];
  for (const [index, [option, method]] of wanted.entries()) {
    const accepted = offers[index]!;
    const name = `payment ${index}`;
    const txHash = hashes.get(index);
    if (txHash === undefined) payments.push({ name, headers: await sign(tokens[option]!, option, accepted) });
    else if (method === 'bare') payments.push({ name, headers: prove(option, txHash) });
    else payments.push({ name, headers: present(accepted, { txHash, reference: accepted.extra['reference'] }) });
  }
  return payments;
}

async function readOffer(url: string, option: number): Promise<RequirementV2> {
  const response = await fetch(url);
  await response.arrayBuffer();
  const { accepts } = readHeader(response, 'payment-required') as unknown as PaymentRequiredV2;
  if (accepts.length !== OPTIONS) throw new Error(`${accepts.length} options are offered, not ${OPTIONS}`);
  return accepts[option]!;
}

/** The hashes of those that are made by transfers, by their place. */
async function transferAll(
  tokens: readonly Devnet[],
  wanted: readonly (readonly [number, Method])[],
  offers: readonly RequirementV2[],
): Promise<Map<number, Hex>> {
  const hashes = new Map<number, Hex>();
  for (const [option, token] of tokens.entries()) {
    for (const method of ['locked', 'bare'] as const) {
      const places = [...wanted.keys()].filter((at) => wanted[at]![0] === option && wanted[at]![1] === method);
      if (places.length === 0) continue;
      const references = places.map((at) => String(offers[at]!.extra['reference']));
      const lock = method === 'locked' ? { lockReferences: references } : {};
      const made = await mineTransfers(token, { count: places.length, amountBaseUnits: PRICES[option]!, ...lock });
      made.forEach((hash, index) => hashes.set(places[index]!, hash));
    }
  }
  return hashes;
}

function present(accepted: RequirementV2, payload: object): Record<string, string> {
  return { 'PAYMENT-SIGNATURE': encodeJsonHeader({ x402Version: 2, accepted, payload }) };
}

function prove(option: number, txHash: Hex): Record<string, string> {
  const network = option === 0 ? 'chain-testnet' : 'chain-testnet-2';
  return { 'X-Payment': createProof(txHash, {}, network) };
}

async function sign(token: Devnet, option: number, accepted: RequirementV2): Promise<Record<string, string>> {
  const payer = token.accounts[0]!;
  if (option === 2) {
    const { permit2Authorization, signature } = await signPermit(token, payer, { amountBaseUnits: PRICES[option] });
    return present(accepted, { permit2Authorization, signature });
  }
  const validBefore = String(Math.floor(Date.now() / 1000) + VALID_SECONDS);
  const { authorization, signature } = await signAuthorization(token, payer, {
    value: String(PRICES[option]!),
    validBefore,
  });
  return present(accepted, { authorization, signature });
}
