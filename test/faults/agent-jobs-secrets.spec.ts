import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { registerWebhook } from '../../tools/devnet/jobs-demo/check-webhook.js';
import { startStack } from '../../tools/devnet/stack/stack.js';
import { startWebhookTarget } from '../../tools/devnet/stack/webhook-target.js';
import { waitFor } from '../harness/retry.js';
import { useAgents } from '../harness/stack/use-agents.js';

const AGENT_SECRET = `canary-of-the-agents-${randomBytes(16).toString('hex')}`;
const RPC_KEY = `canary-of-the-rpc-${randomBytes(8).toString('hex')}`;
const SENT_KEY = randomBytes(32).toString('hex');
const RECEIVER = '0x00000000000000000000000000000000000a11ce';

// Processes are killed and restarted, which is slow on a busy machine.
jest.setTimeout(180_000);

/** Canaries: searches everything printed, answered, measured, posted and stored for the secrets. */
describe('the secrets of agent jobs', () => {
  const agents = useAgents({
    rpcPath: `/v2/${RPC_KEY}?apikey=${RPC_KEY}`,
    env: { AGENT_SECRET, LOG_LEVEL: 'trace', RPC_TIMEOUT_MS: '500', WEBHOOK_FIRST_RETRY_MS: '100' },
  });
  const seen: string[] = [];

  const send = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
    const response = await agents().client.send(method, path, body, headers);
    const text = await response.text();
    seen.push([...response.headers].join('\n'), text);
    return text;
  };
  const transfer = (amount: string) => agents().submit('transfer', { amount, to: RECEIVER });

  it('appear in no log, answer, metric, webhook or store, in success or failure', async () => {
    const { client, stack, wallet, proxy } = agents();
    let answered = 0;
    const target = await startWebhookTarget(() => (answered++ % 3 === 0 ? 500 : 204));
    const webhookSecret = await registerWebhook(stack.baseUrl, client.token, target.url);

    // One valid request, one refused in planning, and several that are not allowed.
    const done = await transfer('0.01');
    await client.waitFor(done, 'FINAL');
    const refused = await transfer('999999999999');
    await client.waitFor(refused, 'PLAN_FAILED');
    const forged = { operation: 'transfer', wallet: wallet.name, privateKey: `0x${SENT_KEY}`, rawTx: SENT_KEY };
    await send('POST', '/agent/jobs', forged, { 'idempotency-key': 'forged' });
    await send('POST', '/agent/jobs', `0x${SENT_KEY}`, { 'idempotency-key': 'forged' });
    await send('GET', '/agent/jobs', undefined, { authorization: `Bearer tgk_${SENT_KEY}` });
    for (const path of [`/agent/jobs/${done}`, `/agent/jobs/${refused}`, '/agent/jobs', '/agent/webhooks']) {
      await send('GET', path);
    }

    // The RPC server fails in every way, then Redis goes down.
    for (const reply of ['broken', 'silence', { status: 401, body: `bad key ${RPC_KEY}` }] as const) {
      let failed = 0;
      proxy.intercept('*', () => {
        failed += 1;
        return reply;
      });
      const jobId = await transfer('0.02');
      await waitFor('failed look-ups', () => failed > 3);
      proxy.reset();
      await client.waitFor(jobId, 'FINAL');
    }
    await stack.redis.kill();
    await send('GET', `/agent/jobs/${done}`);
    await stack.redis.start();
    await client.waitFor(await transfer('0.03'), 'FINAL');
    await waitFor('webhooks', () => target.taken.some(({ body }) => body.includes(refused)));
    await target.stop();

    for (const service of [...stack.gateways, ...stack.agentWorkers]) {
      for (const path of ['/metrics', '/health/ready']) seen.push(await (await fetch(service.url + path)).text());
    }
    seen.push(...target.taken.map(({ headers, body }) => JSON.stringify({ headers, body })));
    const files = readdirSync(stack.redis.dir, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    const stored = files.map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'));
    expect(stored.join('')).toContain(done);
    const logs = [...stack.gateways, ...stack.agentWorkers].map((service) => service.logs()).join('\n');

    const digits = wallet.privateKey.slice(2);
    const canaries = [digits, digits.toUpperCase(), AGENT_SECRET, RPC_KEY, SENT_KEY, client.token, webhookSecret];
    for (const canary of canaries) {
      expect(seen.filter((text) => text.includes(canary))).toEqual([]);
      expect(logs.split('\n').filter((line) => line.includes(canary))).toEqual([]);
      expect(stored.filter((text) => text.includes(canary)).length).toBe(0);
    }
  });

  it('are not printed by a worker that cannot start', async () => {
    const { stack, chain } = agents();
    const env = {
      AGENT_SECRET: 'canary-short',
      WALLET_PRIVATE_KEY: `0x${SENT_KEY}canary`,
      RPC_URL: `ftp://${RPC_KEY}@x`,
    };
    const failure = await startStack({ redis: stack.redis, chain, env, agentWorkers: 1 }).catch(String);
    expect(failure).toMatch(/cannot start/);
    for (const canary of ['canary', SENT_KEY]) expect(failure).not.toContain(canary);
  });
});
