import { milliseconds } from '@tollgate/schemas';
import { z } from 'zod';

/** A name or an address, of a client for instance. */
export const shortText = z.string().max(1024);

/** A key of the ledger: of an owner, a request or what the client repeats; random bits or a hash, base64url. */
export const ledgerKey = z.string().regex(/^[\w-]{1,64}$/);

/** The fields of every question that a request of a client leads to. */
export const asked = {
  requestId: shortText,
  /** On the clock of the ledger's Redis. */
  deadlineMs: milliseconds,
  /** The client whose shares of look-ups and waits are charged. */
  clientAddress: shortText,
};
