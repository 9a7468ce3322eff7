import type { ApiKeyScope } from '@tollgate/common';

import { describeProblems } from '../openapi-parts.js';

export const AGENT_TAG = 'Agent jobs';
export const API_KEY_SECURITY = 'ApiKey';

export interface DescribedOperation {
  readonly summary: string;
  readonly description?: string;
  readonly scopes: readonly ApiKeyScope[];
  readonly parameters?: readonly object[];
  /** The schema of a JSON body, with examples by name. */
  readonly body?: { readonly schema: object; readonly examples?: Readonly<Record<string, object>> };
  readonly answers: Readonly<Record<string, object>>;
  /** In addition to those of every route. */
  readonly problems?: Readonly<Record<string, string>>;
}

const EVERYWHERE: Readonly<Record<string, string>> = {
  '401': 'No API key, or one that is unknown or revoked.',
  '403': 'The API key lacks the scope, or may not do this.',
  '429': 'Too many requests with this API key.',
  '503': 'The journal or the workers are unavailable: send the same request again.',
};

/** The OpenAPI operation of one route for API keys. */
export function describeAgentOperation(operation: DescribedOperation): object {
  const { summary, description, scopes, parameters = [], body, answers, problems = {} } = operation;
  const needs = `Scope: ${scopes.join(' or ')}.`;
  return {
    tags: [AGENT_TAG],
    summary,
    description: description === undefined ? needs : `${description} ${needs}`,
    security: [{ [API_KEY_SECURITY]: [] }],
    parameters,
    ...(body !== undefined && { requestBody: { required: true, content: { 'application/json': body } } }),
    responses: { ...answers, ...describeProblems({ ...EVERYWHERE, ...problems }) },
  };
}
