import { EVENT_TYPES } from '@tollgate/protocol';

import { answerWith, parameter, ref } from '../openapi-parts.js';
import { describeAgentOperation } from './agent-operation.js';

const SCOPES = ['read', 'operator'] as const;
const id = parameter('path', 'id', 'Of the target.');
const NOT_FOUND = { '404': 'None of this API key.' };

const REGISTRATION = {
  type: 'object',
  properties: {
    url: { type: 'string', format: 'uri', maxLength: 2048, description: 'HTTPS, on the public internet.' },
    events: { type: 'array', items: { type: 'string', enum: [...EVENT_TYPES] }, description: 'Left out: all.' },
    operations: { type: 'array', items: { type: 'string' }, description: 'Left out: all.' },
  },
  required: ['url'],
  additionalProperties: false,
};

/** `/agent/events` and `/agent/webhooks`: the ways on which a job's owner hears of it. */
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
        answers: { '204': { description: 'It gets nothing more.' } },
        problems: NOT_FOUND,
      }),
    },
    '/agent/webhooks/{id}/enable': {
      post: describeAgentOperation({
        summary: 'Post to a target again that was turned off',
        scopes: SCOPES,
        parameters: [id],
        answers: { '200': answerWith('It gets what happens from now on.', ref('Webhook')) },
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
      'Each `data` is an AgentJobEvent; a key gets its own, an operator all. `eventsMissed` tells of events that are no longer kept: look at the jobs.',
    scopes: SCOPES,
    parameters: [
      parameter('query', 'type', `One or more of ${EVENT_TYPES.join(', ')}, separated by commas.`),
      parameter('query', 'jobId', 'Of this job alone.'),
      {
        name: 'Last-Event-ID',
        in: 'header',
        description: 'Goes on after it: an `id` of a stream, or of an event. Without one: what happens from now on.',
        schema: { type: 'string' },
      },
    ],
    answers: { '200': { description: 'A stream without an end.', content: { 'text/event-stream': stream } } },
    problems: {
      '400': 'A parameter or Last-Event-ID is not valid.',
      '429': 'Too many streams, or requests, of this API key.',
    },
  });
}

function describeRegistration(): object {
  return describeAgentOperation({
    summary: 'Register a webhook target',
    description: 'Its secret is in this answer and in no other.',
    scopes: SCOPES,
    body: {
      schema: REGISTRATION,
      examples: { failures: { value: { url: 'https://shop.example/hooks/jobs', events: ['transactionFailed'] } } },
    },
    answers: { '201': answerWith('Registered.', ref('NewWebhook')) },
    problems: {
      '400': 'The body is not valid.',
      '409': 'The API key has as many targets as it may have.',
      '422': 'Nothing is posted to such a URL.',
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
        summary: 'Deliveries that were given up',
        scopes: SCOPES,
        parameters: [
          parameter('query', 'limit', 'How many.', { type: 'integer', minimum: 1, maximum: 200, default: 50 }),
        ],
        answers: { '200': answerWith('Newest first.', { type: 'object', properties: { deadLetters } }) },
        problems: { '400': 'The limit is not valid.' },
      }),
    },
    '/agent/webhooks/dead-letters/{id}/resend': {
      post: describeAgentOperation({
        summary: 'Deliver it again, with all attempts',
        scopes: SCOPES,
        parameters: [parameter('path', 'id', 'Of the dead letter.')],
        answers: { '202': { description: 'It waits for delivery.' } },
        problems: NOT_FOUND,
      }),
    },
  };
}
