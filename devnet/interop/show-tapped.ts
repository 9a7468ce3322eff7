import { STATUS_CODES } from 'node:http';

import { showText } from '../show-exchange.js';
import type { TappedExchange } from './http-tap.js';

type Headers = TappedExchange['request']['headers'];

const SHOWN_OF_REQUEST = ['payment-signature', 'authorization', 'x-payment', 'accept-payment'];
const SHOWN_OF_ANSWER = [
  'payment-required',
  'www-authenticate',
  'payment-response',
  'payment-receipt',
  'x-payment-response',
  'x-payment-released',
  'cache-control',
];

/** Prints a request and its answer in their form on the wire, with base64 decoded. */
export function showTapped({ request, answer }: TappedExchange): void {
  console.log(`  > ${request.method} ${request.path}`);
  for (const name of SHOWN_OF_REQUEST) showHeader('>', name, request.headers);
  console.log(`\n  < ${answer.status} ${STATUS_CODES[answer.status] ?? ''}`);
  for (const name of SHOWN_OF_ANSWER) showHeader('<', name, answer.headers);
  showText(formatJson(answer.body), '    ');
  console.log('');
}

function showHeader(sign: string, name: string, headers: Headers): void {
  const value = headers[name];
  if (typeof value !== 'string') return;
  const decoded = decode(value);
  if (decoded === null) return console.log(`  ${sign} ${name}: ${value}`);
  console.log(`  ${sign} ${name}: ${value.slice(0, 40)}…   ${decoded.what}`);
  showText(formatJson(decoded.text), '      ');
}

/** JSON in base64, alone or behind `Payment`; a challenge of `Payment` has it in its parameter `request`. */
function decode(value: string): { what: string; text: string } | null {
  const request = /\brequest="([\w-]+)"/.exec(value)?.[1];
  const encoded = request ?? value.replace(/^Payment /, '');
  // The gateway pads a header with blanks before the brace, so that its changing part begins at a whole group of four.
  const text = Buffer.from(encoded, 'base64').toString('utf8').trimStart();
  if (!text.startsWith('{')) return null;
  return { what: request === undefined ? 'base64 of' : 'its request is base64 of', text };
}

function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
