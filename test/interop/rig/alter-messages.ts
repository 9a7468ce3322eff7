import { randomBytes } from 'node:crypto';

import { parseSignedPayment, type SignedPayment } from '@tollgate/protocol';
import { concatHex, encodeAbiParameters, type Hex } from 'viem';

import type { TappedAnswer, TappedRequest } from '../../../tools/devnet/interop/http-tap.js';
import { MULTICALL3 } from '../../../tools/devnet/protocols/place-contracts.js';
import type { AlteredAcceptance, AlteredPayment, AlteredPermit, AlteredTerm, Client } from '../matrix.js';

const STRANGER: Hex = '0x00000000000000000000000000000000000bad01';
const EIP6492_SUFFIX: Hex = `0x${'6492'.repeat(16)}`;

// Messages in their form on the wire: every client writes its own.
/* oxlint-disable typescript/no-explicit-any */
export type Message = Record<string, any>;

const decode = (text: string): Message => JSON.parse(Buffer.from(text, 'base64').toString()) as Message;
const encode = (message: Message, form: 'base64' | 'base64url'): string =>
  Buffer.from(JSON.stringify(message)).toString(form);

/** The challenge of version 2 in an answer. */
export function readRequired({ headers }: Response): { accepts: { scheme: string }[] } {
  const header = headers.get('payment-required');
  return header === null ? { accepts: [] } : (decode(header) as { accepts: { scheme: string }[] });
}

/** The payment in a request, in whichever header; null where there is none. */
export function readPayment({ headers }: TappedRequest, { paysIn }: Client): Message | null {
  const header = headers[paysIn];
  return typeof header === 'string' ? decode(header.replace(/^Payment /, '')) : null;
}

/** The signed authorization or permit, in whichever protocol. */
export function readSigned({ payload }: Message): SignedPayment {
  const { signature, permit2Authorization } = payload as Message;
  const { authorization = payload } = payload as Message;
  return parseSignedPayment(permit2Authorization ? { signature, permit2Authorization } : { signature, authorization });
}

/** Alters the payment of a request on its way; a request without a payment stays as it is. */
export function alterPayment(
  request: TappedRequest,
  client: Client,
  change: (payment: Message) => void,
): TappedRequest {
  const payment = readPayment(request, client);
  if (payment === null) return request;
  change(payment);
  const isMpp = client.paysIn === 'authorization';
  const header = isMpp ? `Payment ${encode(payment, 'base64url')}` : encode(payment, 'base64');
  return { ...request, headers: { ...request.headers, [client.paysIn]: header } };
}

type Change = string | ((was: string) => string);

function changeField(record: Message, field: string, change: Change): void {
  record[field] = typeof change === 'string' ? change : change(record[field] as string);
}

const changeAuthorization =
  (field: string, change: Change) =>
  ({ payload }: Message) =>
    changeField(payload.authorization ?? payload, field, change);

/** `part`: the object in the permit that has the field. */
const changePermit =
  (field: string, change: Change, part?: 'permitted' | 'witness') =>
  ({ payload: { permit2Authorization: permit } }: Message) =>
    changeField(part ? permit[part] : permit, field, change);

function changeSignature({ payload }: Message): void {
  const [, , first] = payload.signature as string;
  payload.signature = `0x${first === '1' ? '2' : '1'}${(payload.signature as string).slice(3)}`;
}

function changeNetwork(payment: Message): void {
  if (payment['accepted']) payment['accepted'].network = 'eip155:8453';
  else if (payment['network']) payment['network'] = 'base';
  else payment['challenge'].request = changeRequest(payment['challenge'].request as string, { chainId: 8453 });
}

const later = (was: string): string => String(BigInt(was) + 3600n);

export const PAYMENT_CHANGES: Readonly<Record<AlteredPayment, (payment: Message) => void>> = {
  recipient: changeAuthorization('to', STRANGER),
  value: changeAuthorization('value', '999'),
  expiry: changeAuthorization('validBefore', later),
  nonce: changeAuthorization('nonce', `0x${randomBytes(32).toString('hex')}`),
  payer: changeAuthorization('from', STRANGER),
  signature: changeSignature,
  'signature, as of a wallet yet to be deployed (EIP-6492)': (payment) => {
    changeAuthorization('from', STRANGER)(payment);
    const types = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }] as const;
    const wrapped = encodeAbiParameters(types, [MULTICALL3, '0x', payment['payload'].signature as Hex]);
    payment['payload'].signature = concatHex([wrapped, EIP6492_SUFFIX]);
  },
  network: changeNetwork,
};

export const PERMIT_CHANGES: Readonly<Record<AlteredPermit, (payment: Message) => void>> = {
  recipient: changePermit('to', STRANGER, 'witness'),
  maximum: changePermit('amount', '999', 'permitted'),
  spender: changePermit('spender', STRANGER),
  facilitator: changePermit('facilitator', STRANGER, 'witness'),
  expiry: changePermit('deadline', later),
  nonce: changePermit('nonce', (was) => String(BigInt(was) ^ 1n)),
  payer: changePermit('from', STRANGER),
  signature: changeSignature,
  network: changeNetwork,
};

/** Changes to the accepted requirement of a payment by the scheme. */
export const acceptanceChanges = (scheme: string): Readonly<Record<AlteredAcceptance, object>> => ({
  amount: { amount: '1' },
  payTo: { payTo: STRANGER },
  asset: { asset: STRANGER },
  network: { network: 'eip155:8453' },
  scheme: { scheme: scheme === 'upto' ? 'exact' : 'upto' },
});

interface TermChange {
  payTo?: Hex;
  amount?: string;
  seconds?: number;
}

export const TERM_CHANGES: Readonly<Record<AlteredTerm, TermChange>> = {
  'another recipient': { payTo: STRANGER },
  'a lower amount': { amount: '999' },
  'a higher amount': { amount: '1001' },
  'a time that ends at once': { seconds: 1 },
};

/** Alters a challenge on its way, in the forms of all three protocols. */
export function alterChallenge(answer: TappedAnswer, change: TermChange): TappedAnswer {
  if (answer.status !== 402) return answer;
  const { payTo, amount, seconds } = change;
  const common = { ...(payTo && { payTo }), ...(seconds && { maxTimeoutSeconds: seconds }) };
  const body = JSON.parse(answer.body) as Message;
  Object.assign(body['accepts'][0], common, amount && { maxAmountRequired: amount });
  const required = decode(String(answer.headers['payment-required']));
  for (const offer of required['accepts'] as Message[]) Object.assign(offer, common, amount && { amount });
  // An MPP credential that ends before the answer and its settlement (60 s here) is refused for that, with whatever
  // challenge. This one is refused for its challenge, also on a busy machine.
  const expires = seconds && new Date(Date.now() + (seconds + 180) * 1000).toISOString();
  const authenticate = String(answer.headers['www-authenticate'])
    .replace(/request="([^"]*)"/, (_, request: string) => `request="${changeRequest(request, change)}"`)
    .replace(/expires="([^"]*)"/, (was) => (expires ? `expires="${expires}"` : was));
  const headers = { 'payment-required': encode(required, 'base64'), 'www-authenticate': authenticate };
  return { ...answer, headers: { ...answer.headers, ...headers }, body: JSON.stringify(body) };
}

/** The `request` of an MPP challenge. */
function changeRequest(text: string, { payTo, amount, chainId }: TermChange & { chainId?: number }): string {
  const request = decode(text);
  if (payTo) request['recipient'] = payTo;
  if (amount) request['amount'] = amount;
  if (chainId) request['methodDetails'].chainId = chainId;
  return encode(request, 'base64url');
}
