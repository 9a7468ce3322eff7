import { timingSafeEqual } from 'node:crypto';

import { isAddress, type Hex } from '@tollgate/protocol';

import { createHmacSha256 } from '../paywall/offer/hmac-sha256.js';

/** What the holder of a ticket may pay: never the reference, which redeems. */
export interface TicketTerms {
  /** keccak256 of the reference, 32 bytes. */
  readonly lock: Hex;
  /** The resource's path, percent-encoded. */
  readonly path: string;
  readonly priceBaseUnits: bigint;
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly chainId: number;
  readonly network: string;
  readonly expiresAtMs: number;
}

const VERSION = 1;
const MAC_BYTES = 16;
/** Version 1, expiry 4, lock 32, price 16, asset 20, recipient 20, chain 6, length of the network's name 1. */
const FIXED_BYTES = 100;
/** The router takes a segment of at most 1024 characters, and a code that is read from a screen far fewer. */
const LONGEST_TICKET = 800;
const TICKET = /^[A-Za-z0-9_-]+$/;

/**
 * Tickets that are recognised without being stored: the terms and half an HMAC over them, under `CHALLENGE_SECRET`. A
 * ticket pays, and does nothing else.
 */
export class PayTickets {
  readonly #secrets: readonly Uint8Array[];
  readonly #hmac = createHmacSha256();

  /** The first secret signs; tickets signed with the others are still accepted. */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.map((secret) => Buffer.from(secret));
  }

  /** Null where the path is too long for a URL that a camera can read. */
  create(terms: TicketTerms): string | null {
    const content = encode(terms);
    const [secret] = this.#secrets;
    if (secret === undefined) throw new TypeError('There is no secret to sign tickets with.');
    const ticket = Buffer.concat([content, this.#sign(secret, content)]).toString('base64url');
    return ticket.length <= LONGEST_TICKET ? ticket : null;
  }

  /** The terms of a ticket that this gateway made; null for any other text. The caller checks the expiry. */
  read(ticket: string): TicketTerms | null {
    if (ticket.length > LONGEST_TICKET || !TICKET.test(ticket)) return null;
    const bytes = Buffer.from(ticket, 'base64url');
    if (bytes.length < FIXED_BYTES + MAC_BYTES || bytes[0] !== VERSION) return null;
    // One spelling for each ticket: the last character of base64url has bits that decode to nothing.
    if (bytes.toString('base64url') !== ticket) return null;
    const [content, mac] = [bytes.subarray(0, -MAC_BYTES), bytes.subarray(-MAC_BYTES)];
    const isOwn = this.#secrets.some((secret) => timingSafeEqual(this.#sign(secret, content), mac));
    return isOwn ? decode(content) : null;
  }

  // The prefix separates these messages from those of references, which begin with a time as bytes, and of sign-ins.
  #sign(secret: Uint8Array, content: Buffer): Buffer {
    const message = Buffer.concat([Buffer.from('pay-ticket\n'), content]);
    return Buffer.from(this.#hmac(secret, message).slice(0, MAC_BYTES));
  }
}

function encode(terms: TicketTerms): Buffer {
  const { lock, path, priceBaseUnits, asset, payTo, chainId, network, expiresAtMs } = terms;
  const fixed = Buffer.alloc(FIXED_BYTES);
  fixed.writeUInt8(VERSION, 0);
  fixed.writeUInt32BE(Math.floor(expiresAtMs / 1000), 1);
  fixed.write(lock.slice(2), 5, 'hex');
  fixed.write(priceBaseUnits.toString(16).padStart(32, '0'), 37, 'hex');
  fixed.write(asset.slice(2), 53, 'hex');
  fixed.write(payTo.slice(2), 73, 'hex');
  fixed.writeUIntBE(chainId, 93, 6);
  fixed.writeUInt8(network.length, 99);
  return Buffer.concat([fixed, Buffer.from(network, 'latin1'), Buffer.from(path, 'latin1')]);
}

function decode(content: Buffer): TicketTerms | null {
  const hexAt = (start: number, bytes: number): Hex => `0x${content.toString('hex', start, start + bytes)}`;
  const pathAt = FIXED_BYTES + content.readUInt8(99);
  const [asset, payTo] = [hexAt(53, 20), hexAt(73, 20)];
  if (!isAddress(asset) || !isAddress(payTo)) return null;
  return {
    lock: hexAt(5, 32),
    path: content.toString('latin1', pathAt),
    priceBaseUnits: BigInt(hexAt(37, 16)),
    asset,
    payTo,
    chainId: content.readUIntBE(93, 6),
    network: content.toString('latin1', FIXED_BYTES, pathAt),
    expiresAtMs: content.readUInt32BE(1) * 1000,
  };
}
