import { EVENT_TYPES } from '@tollgate/protocol';

import { answerWith, parameter, ref } from '../openapi-parts.js';
import { describeAgentOperation } from './agent-operation.js';

const SCOPES = ['read', 'operator'] as const;
const id = parameter('path', 'id', 'The id of the target.');
const NOT_FOUND = { '404': 'This API key has no such entry.' };

const REGISTRATION = {
  type: 'object',
  properties: {
    url: { type: 'string', format: 'uri', maxLength: 2048, description: 'An HTTPS URL on the public internet.' },
    events: { type: 'array', items: { type: 'string', enum: [...EVENT_TYPES] }, description: 'All if left out.' },
    operations: { type: 'array', items: { type: 'string' }, description: 'All if left out.' },
  },
  required: ['url'],
  additionalProperties: false,
};

/** `/agent/events` and `/agent/webhooks`: how a job's owner receives its events. */
export function describeEvents(): Record<string, object> {
  return {
    '/agent/events': { get: describeStream() },
    '/agent/webhooks': { post: describeRegistration(), get: describeTargets() },
    '/agent/webhooks/{id}': {
      get: describeAgentOperation({
        summary: 'A webhook target',
        scopes: SCOPES,
        parameters: [id],
        answers: { '200': answerWith('Without its secret.', ref('Webhook')) },
        problems: NOT_FOUND,
      }),
      delete: describeAgentOperation({
        summary: 'Remove a webhook target',
        scopes: SCOPES,
        parameters: [id],
        answers: { '204': { description: 'The target receives no more events.' } },
        problems: NOT_FOUND,
      }),
    },
    '/agent/webhooks/{id}/enable': {
      post: describeAgentOperation({
        summary: 'Enable a disabled webhook target',
        scopes: SCOPES,
        parameters: [id],
        answers: { '200': answerWith('The target receives only events from now on.', ref('Webhook')) },
        problems: NOT_FOUND,
      }),
    },
    ...describeDeadLetters(),
  };
}

function describeStream(): object {
  const stream = { schema: { type: 'string' }, example: 'id: e1.j1a2b3c4d-1z\nevent: jobCompleted\ndata: {…}\n\n' };
  return describeAgentOperation({
    summary: 'Events as they happen (server-sent events)',
    description:
      'Each `data` is an AgentJobEvent. A key receives the events of its own jobs, an operator those of all. `eventsMissed` reports events that are no longer stored: read the jobs instead.',
    scopes: SCOPES,
    parameters: [
      parameter('query', 'type', `One or more of ${EVENT_TYPES.join(', ')}, separated by commas.`),
      parameter('query', 'jobId', 'Only events of this job.'),
      {
        name: 'Last-Event-ID',
        in: 'header',
        description: 'Continues after this `id` of a stream or of an event. Without it, only new events are sent.',
        schema: { type: 'string' },
      },
    ],
    answers: { '200': { description: 'An endless stream.', content: { 'text/event-stream': stream } } },
    problems: {
      '400': 'A parameter or Last-Event-ID is not valid.',
      '429': 'Too many streams or requests with this API key.',
    },
  });
}

function describeRegistration(): object {
  return describeAgentOperation({
    summary: 'Register a webhook target',
    description: 'The secret is shown only in this response.',
    scopes: SCOPES,
    body: {
      schema: REGISTRATION,
      examples: { failures: { value: { url: 'https://shop.example/hooks/jobs', events: ['transactionFailed'] } } },
    },
    answers: { '201': answerWith('Registered.', ref('NewWebhook')) },
    problems: {
      '400': 'The body is not valid.',
      '409': 'The API key has reached its limit of targets.',
      '422': 'The URL is not allowed as a target.',
    },
  });
}

function describeTargets(): object {
  const webhooks = { type: 'array', items: ref('Webhook') };
  return describeAgentOperation({
    summary: 'Webhook targets',
    scopes: SCOPES,
    answers: { '200': answerWith('Oldest first.', { type: 'object', properties: { webhooks } }) },
  });
}

function describeDeadLetters(): Record<string, object> {
  const deadLetters = { type: 'array', items: ref('DeadLetter') };
  return {
    '/agent/webhooks/dead-letters': {
      get: describeAgentOperation({
        summary: 'Failed deliveries (dead letters)',
        scopes: SCOPES,
        parameters: [
          parameter('query', 'limit', 'Maximum number of dead letters.', {
            type: 'integer',
            minimum: 1,
            maximum: 200,
            default: 50,
          }),
        ],
        answers: { '200': answerWith('Newest first.', { type: 'object', properties: { deadLetters } }) },
        problems: { '400': 'The limit is not valid.' },
      }),
    },
    '/agent/webhooks/dead-letters/{id}/resend': {
      post: describeAgentOperation({
        summary: 'Deliver a dead letter again, with a full set of attempts',
        scopes: SCOPES,
        parameters: [parameter('path', 'id', 'The id of the dead letter.')],
        answers: { '202': { description: 'The delivery is queued.' } },
        problems: NOT_FOUND,
      }),
    },
  };
}
