import { STATUS_CODES } from 'node:http';

export interface HttpExchange {
  request: { method: string; path: string; headers: ShownHeaders };
  answer: { status: number; headers: ShownHeaders; body: string };
}

type ShownHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The terminal's width; unlimited for a pipe. */
const COLUMNS = process.stdout.isTTY ? Math.max(process.stdout.columns || 80, 60) : Infinity;
const shownValues = new Set<string>();

/** Prints a request and its answer in their form on the wire: these headers, base64 decoded, JSON indented. */
export function showExchange({ request, answer }: HttpExchange, names: { request: string[]; answer: string[] }): void {
  console.log(`  > ${request.method} ${request.path}`);
  for (const name of names.request) showHeader('>', name, request.headers);
  console.log(`\n  < ${answer.status} ${STATUS_CODES[answer.status] ?? ''}`);
  for (const name of names.answer) showHeader('<', name, answer.headers);
  showText(indentJson(answer.body) ?? answer.body, '    ');
}

function showHeader(sign: string, name: string, headers: ShownHeaders): void {
  const value = Object.entries(headers).find(([given]) => given.toLowerCase() === name.toLowerCase())?.[1];
  if (typeof value !== 'string') return;
  const decoded = decode(value);
  if (decoded === null) return console.log(`  ${sign} ${name}: ${value}`);
  const start = `  ${sign} ${name}: ${value.slice(0, 40)}…  `;
  if (shownValues.has(value)) return console.log(`${start} the same as above`);
  shownValues.add(value);
  console.log(`${start} ${decoded.what}`);
  showText(decoded.text, '      ');
}

/** JSON in base64, alone or behind `Payment`; a challenge of `Payment` has it in its parameter `request`. */
function decode(value: string): { what: string; text: string } | null {
  const request = /\brequest="([\w-]+)"/.exec(value)?.[1];
  const encoded = request ?? value.replace(/^Payment /, '');
  const text = indentJson(Buffer.from(encoded, 'base64').toString('utf8'));
  return text?.startsWith('{')
    ? { what: request === undefined ? 'base64 of' : 'its request is base64 of', text }
    : null;
}

function indentJson(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

/** What does not fit into a line of the terminal loses its middle, random in references. */
function showText(text: string, margin: string): void {
  for (const line of text.split('\n')) {
    const shown = margin + line;
    console.log(shown.length <= COLUMNS ? shown : `${shown.slice(0, COLUMNS - 21)}…${shown.slice(-20)}`);
  }
}
