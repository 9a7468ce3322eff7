import { refuseRequest } from '../request-invalid.js';

/**
 * The hash of the approved plan bounds, from `{"floorsHash": "…"}`.
 * @throws ProblemError for any other body
 */
export function parseApproval(body: unknown): string {
  const { floorsHash, ...others } = Object(body) as Record<string, unknown>;
  const problems = Object.keys(others).map(
    (name) => `${JSON.stringify(name.slice(0, 40))} is not a field of an approval.`,
  );
  if (typeof floorsHash === 'string' && /^[\w-]{1,128}$/.test(floorsHash) && problems.length === 0) return floorsHash;
  throw refuseRequest([...problems.slice(0, 10), 'floorsHash must be the hash of the plan to approve.']);
}
