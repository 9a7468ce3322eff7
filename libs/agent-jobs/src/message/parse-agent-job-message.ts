import { AGENT_JOB_MESSAGE_VERSION, type AgentJobMessage } from '@tollgate/protocol';

/** Exactly these fields: a message with a field that is not signed or not known may not be what its sender meant. */
const FIELDS: { readonly [Name in keyof AgentJobMessage]: (value: unknown) => boolean } = {
  version: (value) => value === AGENT_JOB_MESSAGE_VERSION,
  operation: isText(/^\w{1,64}$/),
  input: isFlatObject,
  wallet: isText(/^[\w.-]{1,64}$/),
  // The value of the `Idempotency-Key` header.
  idempotencyKey: isText(/^[\x21-\x7e]{1,255}$/),
  keyId: isText(/^[a-z0-9]{1,64}$/),
  issuedAt: isTime,
  signature: isText(/^[\w-]{43}$/),
};

/**
 * Returns the message, or the names of the fields that are invalid, missing or unknown. Nothing in it is authenticated
 * yet.
 */
export function parseAgentJobMessage(value: unknown): AgentJobMessage | { faults: string[] } {
  if (typeof value !== 'object' || value === null) return { faults: ['the message is not an object'] };
  const given = value as Readonly<Record<string, unknown>>;
  const wrong = Object.entries(FIELDS)
    .filter(([name, accepts]) => !Object.hasOwn(given, name) || !accepts(given[name]))
    .map(([name]) => name);
  if (wrong.length > 0) return { faults: wrong };
  const isStrange = Object.keys(given).length > Object.keys(FIELDS).length;
  return isStrange ? { faults: ['unknown fields'] } : (given as unknown as AgentJobMessage);
}

function isText(pattern: RegExp): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && pattern.test(value);
}

/** No operation has a nested input, so the signed text cannot be made to grow or to overflow the stack. */
function isFlatObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const members = Object.values(value) as unknown[];
  return members.length <= 100 && members.every((one) => typeof one !== 'object' || one === null);
}

function isTime(value: unknown): boolean {
  return isText(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/)(value) && !Number.isNaN(Date.parse(String(value)));
}
