import { hash } from 'node:crypto';

import { canonicalJson, type AgentJobRequest } from '@tollgate/protocol';

/** Identifies everything that a job requests; SHA-256, in hexadecimal. */
export function fingerprintOfJob({ operation, wallet, input }: AgentJobRequest, retryOf?: string): string {
  const asked = { operation, wallet, input, ...(retryOf !== undefined && { retryOf }) };
  return hash('sha256', canonicalJson(asked), 'hex');
}
