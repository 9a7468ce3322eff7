import { AGENT_OPERATIONS, type AgentJobRequest } from '@tollgate/protocol';

import { refuseRequest } from '../request-invalid.js';

/** @throws ProblemError with everything that is wrong with the body */
export function parseSubmission(body: unknown): AgentJobRequest {
  const { operation, wallet, input } = Object(body) as Partial<Record<keyof AgentJobRequest, unknown>>;
  const known = AGENT_OPERATIONS.find((one) => one === operation);
  const isWallet = typeof wallet === 'string' && /^[\w.-]{1,64}$/.test(wallet);
  const isInput = typeof input === 'object' && input !== null && !Array.isArray(input);
  if (known === undefined || !isWallet || !isInput) throw refuseRequest(['operation, wallet and input are required.']);
  return { operation: known, wallet, input: input as AgentJobRequest['input'] };
}
