import { describeInputs } from '@tollgate/agent-jobs';
import { AGENT_OPERATIONS, IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED, JOB_STATES } from '@tollgate/protocol';

import { answerWith, parameter, ref } from '../openapi-parts.js';
import { describeAgentOperation } from './agent-operation.js';

const job = ref('AgentJobView');
const id = parameter('path', 'id', 'The id of the job.');
const idempotencyKey = {
  name: IDEMPOTENCY_KEY,
  in: 'header',
  description: 'Required, except for a dry run. A repeat with the same key and body returns the same job.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};
const LOCATION = { Location: { description: 'The path of the job.', schema: { type: 'string' } } };
const REPLAYED = {
  [IDEMPOTENT_REPLAYED]: {
    description: 'An earlier request created the job.',
    schema: { type: 'string', enum: ['true'] },
  },
};
const ACCEPTED = answerWith('The job is in the journal and will be executed.', job, { ...LOCATION, ...REPLAYED });
const KEY_PROBLEMS = {
  '409': 'The Idempotency-Key belongs to another request.',
  '410': 'The job of this Idempotency-Key is no longer stored: check the chain first.',
};

/** Each example works unchanged with `npm run dev`, whose wallet has this name. */
function listExamples(origin: string): Record<string, object> {
  const inputs = {
    transfer: { to: `0x${'ab'.repeat(20)}`, amount: '0.5', token: 'USDC' },
    swap: { amount: '1', fromToken: 'USDC', toToken: 'WSEI', slippageBps: 50 },
    payment: { url: `${origin}/api/weather`, maxAmount: '0.01' },
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

/**
 * `/agent/jobs` and everything below it.
 * @param origin where the gateway is reached, for examples
 */
export function describeJobs(origin: string): Record<string, object> {
  return {
    '/agent/jobs': { post: describeSubmission(origin), get: describeList() },
    '/agent/jobs/{id}': {
      get: describeAgentOperation({
        summary: 'A job, its steps and its transactions',
        scopes: ['read', 'operator'],
        parameters: [id],
        answers: { '200': answerWith('The current state of the job.', job) },
        problems: { '404': 'This API key has no such job.' },
      }),
    },
    '/agent/jobs/{id}/cancel': {
      post: describeAgentOperation({
        summary: 'Cancel a job',
        scopes: ['submit', 'operator'],
        parameters: [id],
        answers: {
          '200': answerWith('The job is cancelled.', job),
          '202': answerWith('A transaction is in flight: whichever is mined decides.', job),
        },
        problems: { '404': 'This API key has no such job.', '409': 'It is too late to cancel.' },
      }),
    },
    '/agent/jobs/{id}/retry': {
      post: describeAgentOperation({
        summary: 'Submit a failed job again, as a new job that refers to it',
        scopes: ['submit'],
        parameters: [id, { ...idempotencyKey, required: true, description: 'The key of the new job.' }],
        answers: { '202': ACCEPTED },
        problems: {
          ...KEY_PROBLEMS,
          '400': 'The Idempotency-Key is missing or not valid.',
          '404': 'This API key has no such job.',
          '409': 'The job has not failed, or the Idempotency-Key belongs to another request.',
          '422': 'The wallet no longer exists.',
        },
      }),
    },
    ...describeOperators(),
  };
}

function describeSubmission(origin: string): object {
  return describeAgentOperation({
    summary: 'Submit a job, or plan it in a dry run',
    description: 'With `dryRun=true` a worker only plans the job; nothing is stored or sent.',
    scopes: ['submit'],
    parameters: [idempotencyKey, parameter('query', 'dryRun', 'Return only the plan.', { enum: ['true', 'false'] })],
    body: { schema: ref('AgentJobRequest'), examples: listExamples(origin) },
    answers: { '200': answerWith('The plan of a dry run.', ref('AgentPlan')), '202': ACCEPTED },
    problems: {
      '400': 'The body, the query or the Idempotency-Key is not valid; `problems` lists every mistake.',
      ...KEY_PROBLEMS,
      '413': 'The body is over 64 KiB.',
      '415': 'The body is not JSON.',
      '422': 'The wallet is unknown, or a dry run found that the job cannot be done (`failure`).',
    },
  });
}

function describeList(): object {
  return describeAgentOperation({
    summary: 'Jobs, newest first',
    description:
      'A key sees its own jobs, an operator all. A page may be short or empty and still have a cursor: continue with it.',
    scopes: ['read', 'operator'],
    parameters: [
      parameter('query', 'state', 'One or more, separated by commas.', { example: 'FINAL,REVERTED' }),
      parameter('query', 'operation', 'One operation.', { enum: [...AGENT_OPERATIONS] }),
      parameter('query', 'wallet', "A wallet's name."),
      parameter('query', 'limit', 'Maximum number of jobs on a page.', {
        type: 'integer',
        minimum: 1,
        maximum: 200,
        default: 50,
      }),
      parameter('query', 'cursor', 'The cursor of the previous page.'),
    ],
    answers: { '200': answerWith(`A page. States are ${JOB_STATES.join(', ')}.`, ref('AgentJobPage')) },
    problems: { '400': 'A parameter is unknown or not valid.' },
  });
}

function describeOperators(): Record<string, object> {
  const decide = (summary: string, conflict: string, body?: object): object => ({
    post: describeAgentOperation({
      summary,
      scopes: ['operator'],
      parameters: [id],
      ...(body !== undefined && { body: { schema: body } }),
      answers: { '200': answerWith('The current state of the job.', job) },
      problems: {
        ...(body !== undefined && { '400': 'The body is not valid.' }),
        '404': 'No such job.',
        '409': conflict,
      },
    }),
  });
  const approval = {
    type: 'object',
    properties: { floorsHash: { type: 'string', description: 'The hash of the plan that was reviewed.' } },
    required: ['floorsHash'],
    additionalProperties: false,
  };
  return {
    '/agent/jobs/{id}/approve': decide('Approve the reviewed plan', 'The plan has changed since.', approval),
    '/agent/jobs/{id}/reject': decide('Reject a job that waits for approval', 'The job does not wait for approval.'),
    '/agent/jobs/{id}/resume': decide('Resume a job that needs an operator', 'The job has ended.'),
    '/agent/jobs/{id}/abandon': decide(
      'Abandon a job that needs an operator',
      'The nonce of the job is unused on the chain, or used by its own transaction, or the job needs no operator.',
    ),
  };
}
