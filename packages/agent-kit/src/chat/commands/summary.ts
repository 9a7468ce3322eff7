import type { Operation } from '../../operations/define/operation.js';
import { isFailure, type OperationResult } from '../../tools/run-operation.js';
import type { JsonObject, SafeJson } from '../../tools/safe-json.js';
import { cleanUntrusted } from '../../types/untrusted-text.js';

// As much as a result has of a text.
const MAX_ANSWER_LENGTH = 4_000;
// A transaction hash fits.
const MAX_CELL_LENGTH = 66;

/**
 * A result in words. `done` is the plan's own sentence, null for a read. Untrusted text in a result is one line of
 * printable characters already, and is shown as data.
 */
export function summarise({ name }: Operation, result: OperationResult, done: string | null): string {
  if (isFailure(result)) {
    const said = [result['error'] ?? 'no reason was given', result['suggestion']];
    const sentences = said.filter((text) => typeof text === 'string').map((text) => text.replace(/(?<![.!?])$/, '.'));
    return `${result.status === 'declined' ? 'Not sent' : 'Failed'}: ${sentences.join(' ')}`;
  }
  const { status, ...fields } = result;
  if (name === 'getERC20Balance') return `Balance: ${showValue(fields['balance'])} ${showValue(fields['token'])}`;
  if (done === null) return describeFields(fields);
  const hash = typeof result['result'] === 'string' ? ` Transaction ${result['result']}.` : '';
  return `Done: ${done}.${status === 'signed' ? ' Signed, and not sent.' : hash}${showPaidAnswer(result['answer'])}`;
}

/** A paid answer as the server sent it, on one line of printable characters; empty where there is none. */
export function showPaidAnswer(answer: SafeJson | undefined): string {
  if (!isObject(answer) || typeof answer['body'] !== 'string') return '';
  return `\nAnswer: ${cleanUntrusted(answer['body'], MAX_ANSWER_LENGTH)}`;
}

/** The result without the text of a paid answer, which as JSON in JSON is hard to read. */
export function omitAnswer(result: JsonObject): JsonObject {
  const { answer } = result;
  if (!isObject(answer) || typeof answer['body'] !== 'string') return result;
  const others = Object.entries(answer).filter(([name]) => name !== 'body');
  return { ...result, answer: Object.fromEntries(others) };
}

/** `name: value, name: value`, then each list as a table. */
function describeFields(fields: JsonObject): string {
  const entries = Object.entries(fields);
  const line = entries.flatMap(([name, value]) => (Array.isArray(value) ? [] : [`${name}: ${showValue(value)}`]));
  const lists = entries.flatMap(([name, value]) => (Array.isArray(value) ? [describeList(name, value)] : []));
  return [...(line.length > 0 ? [line.join(', ')] : []), ...lists].join('\n');
}

function describeList(name: string, items: readonly SafeJson[]): string {
  const rows = items.map((item) => (isObject(item) ? item : { [name]: item }));
  const titles = Object.keys(rows[0] ?? {});
  if (titles.length === 0) return `${name}: none`;
  const lines = [titles, ...rows.map((row) => titles.map((title) => showValue(row[title]).slice(0, MAX_CELL_LENGTH)))];
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const show = (line: readonly string[]) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return lines.map((line) => show(line).trimEnd()).join('\n');
}

/** A token by its ticker, other objects by their fields. */
function showValue(value: SafeJson | undefined): string {
  if (value === undefined || value === null) return '-';
  if (!isObject(value)) return Array.isArray(value) ? value.map(showValue).join(' ') : String(value);
  return typeof value['ticker'] === 'string' ? value['ticker'] : Object.values(value).map(showValue).join(' ');
}

function isObject(value: SafeJson | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
