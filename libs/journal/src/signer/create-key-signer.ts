import { createPreimageSigner, type PreimageSigner, type Signature } from '@tollgate/crypto';
import { hashPaymentToSign, payerOf, withSignature, type Hex } from '@tollgate/protocol';

import type { LaneSigner, TransactionToSign } from '../jobs/ports.js';

/** @throws RangeError for a key that is zero or beyond the order of the curve */
export function createKeySigner(privateKey: Hex): LaneSigner {
  const signer = createPreimageSigner(privateKey);
  if (signer === null) throw new RangeError('The private key is not valid on secp256k1.');
  return createLaneSigner(signer);
}

/**
 * The signer of a private key: 32 bytes in hexadecimal, with or without `0x`. Null when the key is invalid; no reason
 * is given, because an error text could quote the key.
 */
export function readKeySigner(privateKey: string): LaneSigner | null {
  const digits = /^(?:0x)?([0-9a-f]{64})$/i.exec(privateKey.trim())?.[1];
  const signer = digits === undefined ? null : createPreimageSigner(`0x${digits}`);
  return signer && createLaneSigner(signer);
}

function createLaneSigner(signer: PreimageSigner): LaneSigner {
  return {
    address: signer.address,
    sign: async (transaction) => {
      const signature = await signer.sign(encodeTransaction(transaction));
      const signed = encodeTransaction(transaction, signature);
      return `0x${Buffer.from(signed).toString('hex')}`;
    },
    signPayment: async (payment, chainId) => {
      if (payerOf(withSignature(payment, '0x')).toLowerCase() !== signer.address)
        throw new Error('The payment is of another account.');
      const { r, s, yParity } = await signer.signHash(readBytes(hashPaymentToSign(payment, chainId)));
      const words = [r, s].map((word) => word.toString(16).padStart(64, '0'));
      return `0x${words.join('')}${(27 + yParity).toString(16)}`;
    },
  };
}

const EIP_1559 = 0x02;

/**
 * The bytes of an EIP-1559 transaction without access list, or of a legacy one (EIP-155): without a signature the bytes
 * to sign, with one the bytes to send. Written by hand, because the calldata of many payments passes through here and a
 * general encoder copies it a dozen times.
 */
function encodeTransaction(transaction: TransactionToSign, signature?: Signature): Uint8Array {
  const { maxPriorityFeePerGas, maxFeePerGas, gas, to, value, data, isLegacy } = transaction;
  const [chainId, nonce] = [BigInt(transaction.chainId), BigInt(transaction.nonce)];
  const call = [encodeBytes(readBytes(to)), encodeNumber(value), encodeBytes(readBytes(data))];
  if (isLegacy) {
    const { yParity, r, s } = signature ?? { yParity: null, r: 0n, s: 0n };
    const v = yParity === null ? chainId : chainId * 2n + 35n + BigInt(yParity);
    return encodeList([...[nonce, maxFeePerGas, gas].map(encodeNumber), ...call, ...[v, r, s].map(encodeNumber)]);
  }
  const fees = [chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas].map(encodeNumber);
  const signed = signature ? [BigInt(signature.yParity), signature.r, signature.s].map(encodeNumber) : [];
  const accessList = encodeHead(0, LIST);
  return Buffer.concat([Buffer.of(EIP_1559), encodeList([...fees, ...call, accessList, ...signed])]);
}

function encodeList(fields: readonly Buffer[]): Buffer {
  const length = fields.reduce((sum, field) => sum + field.length, 0);
  return Buffer.concat([encodeHead(length, LIST), ...fields]);
}

/** RLP: the prefix bytes at which the lengths of strings and of lists begin. */
const STRING = 0x80;
const LIST = 0xc0;
const LONGEST_SHORT = 55;

function encodeBytes(bytes: Buffer): Buffer {
  const [first] = bytes;
  if (bytes.length === 1 && first !== undefined && first < STRING) return bytes;
  return Buffer.concat([encodeHead(bytes.length, STRING), bytes]);
}

/** Without leading zeros; zero is encoded as no bytes at all. */
function encodeNumber(value: bigint): Buffer {
  if (value === 0n) return encodeBytes(Buffer.alloc(0));
  const digits = value.toString(16);
  return encodeBytes(Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex'));
}

function encodeHead(length: number, offset: number): Buffer {
  if (length <= LONGEST_SHORT) return Buffer.of(offset + length);
  const digits = length.toString(16);
  const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
  return Buffer.concat([Buffer.of(offset + LONGEST_SHORT + bytes.length), bytes]);
}

function readBytes(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}
