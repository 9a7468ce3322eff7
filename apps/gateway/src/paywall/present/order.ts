import type { IncomingHttpHeaders } from 'node:http';

import type { Purchase } from './purchase.js';

export interface Caller {
  readonly requestId: string;
  readonly clientAddress: string;
  readonly fingerprint: string;
}

/** A purchase with the parts of the request that its resource receives. */
export interface Order {
  readonly purchase: Purchase;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer | null;
}
