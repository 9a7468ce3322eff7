import {
  isAddress,
  isHash,
  isHexBytes,
  isRecord,
  parsePaymentRequirement,
  parseSignedPayment,
  type JsonRecord,
} from '@tollgate/protocol';

import type { SignedTransaction } from '../account/signed-transaction.js';
import { parseStoredCharge } from '../offer/charge-requirement.js';
import { parseStoredSignable } from '../offer/signable-requirement.js';
import type { PaymentMove, PaymentState, StoredPayment } from './payment-store.js';

const STATES: readonly string[] = [
  'intended',
  'signed',
  'released',
  'moved',
  'redeemed',
  'failed',
  'replaced',
  'abandoned',
];

const isState = (value: unknown): value is PaymentState => typeof value === 'string' && STATES.includes(value);

function parseTransaction(value: unknown): SignedTransaction | null {
  if (value === null) return null;
  if (!isRecord(value)) throw new TypeError('transaction is not an object');
  const { txHash, rawTransaction, nonce } = value;
  if (!isHash(txHash) || !isHexBytes(rawTransaction) || !isCount(nonce)) {
    throw new TypeError('transaction is not a signed transaction');
  }
  return { txHash, rawTransaction, nonce };
}

function parseMove(value: unknown): PaymentMove | null {
  if (value === null) return null;
  if (!isRecord(value)) throw new TypeError('movedTo is not an object');
  const { afterRevision } = value;
  if (!isCount(afterRevision)) throw new TypeError('afterRevision is not a revision');
  return {
    key: readText(value, 'key'),
    url: readText(value, 'url'),
    requestHash: readText(value, 'requestHash'),
    afterRevision,
  };
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value);

/**
 * Parses the offer that a stored payment pays.
 * @throws TypeError or PaymentError when it is invalid
 */
export function parseStoredRequirement(value: unknown): StoredPayment['requirement'] {
  if (!isRecord(value)) throw new TypeError('requirement is not an object');
  if ('challenge' in value) return parseStoredCharge(value);
  return 'x402Version' in value ? parseStoredSignable(value) : parsePaymentRequirement(value);
}

function readText(record: JsonRecord, name: string): string {
  const value = record[name];
  if (typeof value !== 'string') throw new TypeError(`${name} is not a string`);
  return value;
}

/**
 * Parses a stored payment.
 * @throws TypeError or PaymentError when a field is invalid.
 */
export function parseStoredPayment(value: unknown): StoredPayment {
  if (!isRecord(value)) throw new TypeError('not an object');
  const { state, chainId, payer, createdAtMs, moves } = value;
  if (!isState(state)) throw new TypeError('state is unknown');
  if (typeof chainId !== 'number' || typeof createdAtMs !== 'number' || !isAddress(payer)) {
    throw new TypeError('chainId, createdAtMs or payer is not what was written');
  }
  if (!isCount(moves)) throw new TypeError('moves is not a count');
  const transaction = parseTransaction(value['transaction']);
  const authorization = value['authorization'] === null ? null : parseSignedPayment(value['authorization']);
  if ((state === 'signed' || state === 'released') && transaction === null && authorization === null) {
    throw new TypeError('a signed payment has no transaction and no authorization');
  }
  return {
    state,
    method: readText(value, 'method'),
    url: readText(value, 'url'),
    requestHash: readText(value, 'requestHash'),
    idempotencyKey: readText(value, 'idempotencyKey'),
    requirement: parseStoredRequirement(value['requirement']),
    chainId,
    payer,
    createdAtMs,
    transaction,
    authorization,
    moves,
    movedTo: parseMove(value['movedTo']),
  };
}
