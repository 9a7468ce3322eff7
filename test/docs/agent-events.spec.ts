import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { EVENT_TYPES } from '@tollgate/protocol';

import { signWebhook } from '../../libs/webhooks/src/post-event.js';

const page = readFileSync('docs/agent-events.md', 'utf8');
const SECRET = 'the-secret-of-a-target';

const readExample = (file: string) => readFileSync(`examples/verify-a-webhook/${file}`, 'utf8');

interface Delivery {
  headers: Record<string, string>;
  body: string;
}

/** Deliveries with the right signature, and forged ones. */
function createDeliveries(): { delivery: Delivery; isOurs: boolean }[] {
  const body = JSON.stringify({ id: 'j1:FINAL:1', message: 'Ünïcode “quoted”' });
  const sign = (secret: string, atMs: number, signed = body): Delivery => {
    const timestamp = String(Math.floor(atMs / 1000));
    const signature = signWebhook({ secret, timestamp, body: signed });
    return { headers: { 'tollgate-timestamp': timestamp, 'tollgate-signature': signature }, body };
  };
  const now = Date.now();
  const ours = sign(SECRET, now);
  const v2 = `v2=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
  return [
    { delivery: ours, isOurs: true },
    { delivery: sign('another', now), isOurs: false },
    { delivery: sign(SECRET, now, 'another body'), isOurs: false },
    { delivery: sign(SECRET, now - 600_000), isOurs: false },
    { delivery: { headers: { ...ours.headers, 'tollgate-signature': v2 }, body }, isOurs: false },
    { delivery: { headers: {}, body }, isOurs: false },
  ];
}

/** Runs a program in a language's own interpreter, the deliveries on its input; it prints its verdicts. */
function judge(command: string, file: string, program: string, deliveries: Delivery[]): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'webhook-example-'));
  try {
    writeFileSync(join(folder, file), program);
    const input = JSON.stringify(deliveries);
    return JSON.parse(execFileSync(command, [join(folder, file)], { input, encoding: 'utf8' }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('docs/agent-events.md', () => {
  const cases = createDeliveries();
  const deliveries = cases.map(({ delivery }) => delivery);
  const expected = cases.map(({ isOurs }) => isOurs);

  it('has every type of event', () => {
    const rows = [...page.matchAll(/^\| `(\w+)` +\| [A-Z]/gm)].map(([, type]) => type);
    expect(rows).toEqual([...EVENT_TYPES]);
  });

  it('verifies webhooks in Node', () => {
    const program = `import { readFileSync } from 'node:fs';
      ${readExample('verify.mjs')}
      const deliveries = JSON.parse(readFileSync(0, 'utf8'));
      const verdicts = deliveries.map(({ headers, body }) => isFromTollgate(headers, body, '${SECRET}'));
      console.log(JSON.stringify(verdicts));`;
    expect(judge(process.execPath, 'verify.mjs', program, deliveries)).toEqual(expected);
  });

  it('verifies webhooks in Python', () => {
    const program = `import json, sys
${readExample('verify.py')}
verdicts = [is_from_tollgate(one["headers"], one["body"].encode(), "${SECRET}") for one in json.load(sys.stdin)]
print(json.dumps(verdicts))
`;
    expect(judge('python3', 'verify.py', program, deliveries)).toEqual(expected);
  });
});
