import { AGENT_KIT_ERRORS } from '../../agent-kit-error.js';
import { cleanUntrusted } from '../../tokens/untrusted-text.js';
import { describeIntent } from './describe-intent.js';
import { describeReading } from './describe-reading.js';
import type { Intent } from './intent.js';
import { OPERATIONS } from './lexicon/operations.js';
import type { Outcome } from './read-turns.js';

const MAX_ERROR_LENGTH = 400;
const MAX_RESOURCE_LENGTH = 800;

/** The handling that the specification's table of errors suggests for a message. */
function suggestHandling({ suggestion, code, error }: Outcome['data']): string {
  if (typeof suggestion === 'string') return cleanUntrusted(suggestion, MAX_ERROR_LENGTH);
  if (typeof code === 'string' && code in AGENT_KIT_ERRORS)
    return AGENT_KIT_ERRORS[code as keyof typeof AGENT_KIT_ERRORS].suggestion;
  const message = typeof error === 'string' ? error.toLowerCase() : '';
  const known = Object.values(AGENT_KIT_ERRORS).find(
    ({ keyword }) => keyword !== null && message.includes(keyword.toLowerCase()),
  );
  return known?.suggestion ?? '';
}

const capitalise = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const endSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

function describeSuccess({ operation, input }: Pick<Intent, 'operation' | 'input'>, data: Outcome['data']): string {
  const signed = data.status === 'signed' ? ' It was signed only, and not sent.' : '';
  const hash = typeof data.result === 'string' ? ` Transaction ${cleanUntrusted(data.result, 90)}.` : '';
  return `Done: ${describeIntent({ operation, input })}.${hash}${signed}${describeAnswer(data.answer)}`;
}

/** What was paid for: the fields of a JSON object as `name: value`, anything else as it came. */
function describeAnswer(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null || !('body' in answer) || typeof answer.body !== 'string')
    return '';
  return `\nAnswer: ${cleanUntrusted(listFields(answer.body) ?? answer.body, MAX_RESOURCE_LENGTH)}`;
}

/** Null for what is no JSON object, or has no field that fits in a line. */
function listFields(body: string): string | null {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    const fields = Object.entries(value).filter(([, field]) => typeof field !== 'object');
    return fields.map(([name, field]) => `${name}: ${String(field)}`).join(', ') || null;
  } catch {
    return null;
  }
}

/** What came of an operation, in words. Everything that a tool said is shown as data: one line, cut, never obeyed. */
export function describeOutcome(intent: Pick<Intent, 'operation' | 'input'>, { kind, data }: Outcome): string {
  const what = describeIntent(intent);
  if (kind === 'declined') return `Not done, because you did not agree: ${what}.`;
  if (kind === 'failed') {
    const said = data.error ?? data.text;
    const error = cleanUntrusted(typeof said === 'string' ? said : 'no reason was given', MAX_ERROR_LENGTH);
    const suggestion = suggestHandling(data);
    return `Failed: ${what}. ${capitalise(endSentence(error))}${suggestion === '' ? '' : ` ${endSentence(suggestion)}`}`;
  }
  return OPERATIONS[intent.operation]?.readOnly ? describeReading(intent, data) : describeSuccess(intent, data);
}
