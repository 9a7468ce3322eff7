import type { OpenAPIObject } from '@nestjs/swagger';
import { describeInputs } from '@tollgate/agent-jobs';
import { JOB_OPERATIONS, EVENT_TYPES, JOB_STATES, AGENT_OPERATIONS, WAITING_CODES } from '@tollgate/protocol';
import { DISABLED_REASONS } from '@tollgate/webhooks';

import { flag, integer, listOf, record, ref, text } from '../describe/openapi-parts.js';

const time = { ...text, format: 'date-time' };
const txHash = { ...text, pattern: '^0x[0-9a-f]{64}$' };
const operation = { ...text, enum: [...JOB_OPERATIONS] };
const orNull = (schema: object): object => ({ anyOf: [schema, { type: 'null' }] });
const amounts = listOf(record({ token: text, symbol: text, amount: { ...text, description: 'decimal, whole units' } }));

const step = record({
  label: text,
  state: {
    ...text,
    enum: ['planned', 'reserved', 'signed', 'submitted', 'mined', 'done', 'skipped', 'given_up', 'failed'],
  },
  to: text,
  valueWei: text,
  nonce: orNull(integer),
  attempts: listOf(
    record({
      kind: { ...text, enum: ['first', 'replacement', 'cancel'] },
      txHash,
      explorerUrl: orNull({ ...text, format: 'uri' }),
      signedAt: time,
      sentAt: orNull(time),
    }),
  ),
  mined: orNull(record({ txHash, blockNumber: integer, blockHash: text })),
});

const webhook = {
  id: text,
  keyId: text,
  url: { ...text, format: 'uri' },
  events: { ...listOf({ ...text, enum: [...EVENT_TYPES] }), description: 'empty: all' },
  operations: { ...listOf(operation), description: 'empty: all' },
  createdAt: time,
  disabled: orNull({ ...text, enum: [...DISABLED_REASONS] }),
};

/** The response schemas of the agent job routes. */
export const AGENT_SCHEMAS: Readonly<Record<string, object>> = {
  JobFailure: record({ code: text, message: text, suggestion: text }),
  AgentPlan: record({
    summary: text,
    preview: text,
    spends: { ...amounts, description: 'the most that leaves the wallet' },
    receives: { ...amounts, description: 'the least that arrives' },
    recipients: listOf(text),
    warnings: listOf(text),
    slippageBps: orNull(integer),
    floorsHash: {
      ...text,
      description: 'hash of the bounds of the plan: the most that leaves and the least that arrives',
    },
    needsApproval: flag,
  }),
  AgentJobView: record({
    id: text,
    operation,
    wallet: text,
    input: { type: 'object' },
    state: { ...text, enum: [...JOB_STATES] },
    submittedAt: time,
    updatedAt: time,
    endedAt: orNull(time),
    retryOf: orNull(text),
    plan: orNull(ref('AgentPlan')),
    approval: orNull(record({ floorsHash: text, approvedBy: orNull(text) })),
    steps: listOf(step),
    failure: orNull(ref('JobFailure')),
    cancelRefused: {
      ...orNull(ref('JobFailure')),
      description: 'why it goes on although it was cancelled: no RPC server took the cancel',
    },
    waiting: {
      ...orNull(record({ code: { ...text, enum: [...WAITING_CODES] }, message: text, suggestion: text, since: time })),
      description: 'why it stands still; null while it moves, and once it has ended or needs an operator',
    },
    answer: orNull(
      record({
        httpStatus: integer,
        contentType: orNull(text),
        body: { ...orNull(text), description: 'the first 64 KiB as they came, if they are text in UTF-8' },
        bodyBase64: { ...orNull(text), description: 'the first 64 KiB as they came, if they are not such text' },
        isBodyCut: { ...flag, description: 'whether the body was longer, or may have been because it broke off' },
      }),
    ),
  }),
  AgentJobPage: record(
    {
      jobs: listOf(ref('AgentJobView')),
      unreadable: {
        ...listOf(text),
        description:
          'ids of jobs whose records cannot be read, whatever state and operation were asked for, unless they ended in another state; absent when there are none',
      },
      cursor: { ...orNull(text), description: 'cursor of the next page; null on the last page' },
    },
    ['unreadable'],
  ),
  AgentJobEvent: record(
    {
      id: { ...text, description: '`jobId:state:sequence`; the same for every delivery' },
      type: { ...text, enum: [...EVENT_TYPES] },
      jobId: text,
      operation,
      wallet: text,
      at: time,
      txHash,
      error: ref('JobFailure'),
    },
    ['txHash', 'error'],
  ),
  Webhook: record(webhook),
  WebhookList: record(
    {
      webhooks: listOf(ref('Webhook')),
      unreadable: {
        ...listOf(text),
        description: 'ids of targets whose entries cannot be read; absent when there are none',
      },
    },
    ['unreadable'],
  ),
  NewWebhook: record({ ...webhook, secret: { ...text, description: 'signs the posted events; shown only here' } }),
  DeadLetter: record({
    id: text,
    keyId: text,
    webhookId: text,
    attempts: integer,
    failedAt: time,
    reason: text,
    event: ref('AgentJobEvent'),
  }),
};

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
