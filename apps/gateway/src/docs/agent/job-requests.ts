import type { OpenAPIObject } from '@nestjs/swagger';
import { describeInputs } from '@tollgate/agent-jobs';
import { AGENT_OPERATIONS } from '@tollgate/protocol';

import { ref } from '../describe/openapi-parts.js';

/** Each example works unchanged with `npm run dev`, whose wallet has this name. */
function listExamples(paidUrl: string): Record<string, object> {
  const inputs = {
    transfer: { to: `0x${'ab'.repeat(20)}`, amount: '0.5', token: 'USDC' },
    swap: { amount: '1', fromToken: 'USDC', toToken: 'WSEI', slippageBps: 50 },
    payment: { url: paidUrl, maxAmount: '0.01' },
  };
  return Object.fromEntries(
    Object.entries(inputs).map(([operation, input]) => [
      operation,
      { summary: `${operation}, from the wallet of npm run dev`, value: { operation, wallet: 'devnet', input } },
    ]),
  );
}

/** The body of a submission: one schema for each operation, discriminated by `operation`. */
export function describeRequests(): Record<string, object> {
  const inputs = describeInputs();
  const schemas = AGENT_OPERATIONS.map((operation): [string, object] => [
    nameRequest(operation),
    {
      type: 'object',
      properties: {
        operation: { type: 'string', const: operation },
        wallet: { type: 'string', pattern: '^[\\w.-]{1,64}$', description: "The wallet's name." },
        input: inputs[operation],
      },
      required: ['operation', 'wallet', 'input'],
      additionalProperties: false,
    },
  ]);
  const mapping = Object.fromEntries(
    AGENT_OPERATIONS.map((operation) => [operation, `#/components/schemas/${nameRequest(operation)}`]),
  );
  const oneOf = AGENT_OPERATIONS.map((operation) => ref(nameRequest(operation)));
  const request = { oneOf, discriminator: { propertyName: 'operation', mapping } };
  return { AgentJobRequest: request, ...Object.fromEntries(schemas) };
}

function nameRequest(operation: string): string {
  return `AgentJobRequest.${operation}`;
}

/** @param paidUrl what a payment may buy */
export function addJobExamples(document: OpenAPIObject, paidUrl: string): void {
  const body = document.paths['/agent/jobs']?.post?.requestBody;
  if (body && 'content' in body)
    Object.assign(body.content['application/json'] ?? {}, { examples: listExamples(paidUrl) });
}
