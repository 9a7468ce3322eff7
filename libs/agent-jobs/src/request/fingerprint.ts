import { hash } from 'node:crypto';

import { canonicalJson, type AgentJobView } from '@tollgate/protocol';

/** Identifies everything that a job requests; SHA-256, in hexadecimal. */
export function fingerprintOfJob(
  { operation, wallet, input }: Pick<AgentJobView, 'operation' | 'wallet' | 'input'>,
  retryOf?: string,
): string {
  const asked = { operation, wallet, input, ...(retryOf !== undefined && { retryOf }) };
  return hash('sha256', canonicalJson(asked), 'hex');
}
