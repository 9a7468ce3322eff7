import { IsArray } from 'class-validator';
import ipaddr from 'ipaddr.js';

import type { ChecksEntries } from './read-environment.js';
import { Setting } from './setting.js';

/** Whose word is taken for a client's address and protocol. */
export class ProxyEnvironment implements ChecksEntries {
  @Setting({
    help: 'Addresses or CIDR ranges of proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted, comma separated.',
    example: '10.0.0.0/8',
  })
  @IsArray()
  readonly trustProxy: string[] = [];

  /** The option `trustProxy` of Fastify, which reads the headers of an empty list too. */
  get trusted(): string[] | false {
    return this.trustProxy.length > 0 && this.trustProxy;
  }

  problemsOfEntries(): string[] {
    return this.trustProxy.flatMap((range) => {
      if (!ipaddr.isValid(range) && !ipaddr.isValidCIDR(range)) {
        return [`TRUST_PROXY: "${range}" is neither an address nor a CIDR range such as 10.0.0.0/8.`];
      }
      if (!range.endsWith('/0')) return [];
      return [
        `TRUST_PROXY: "${range}" is every address: any client could claim another's address. List only your proxies, for example 10.0.0.0/8.`,
      ];
    });
  }
}
