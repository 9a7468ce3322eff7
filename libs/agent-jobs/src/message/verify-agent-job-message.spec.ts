import { signAgentJobMessage } from '@tollgate/client/jobs';
import { ApiKeyStore, type ApiKeyScope } from '@tollgate/http';
import type { AgentJobMessage, AgentJobOf } from '@tollgate/protocol';
import fc from 'fast-check';

import { useRedis } from '../../../../test/harness/stack/borrow-redis.js';
import { deriveEnqueueSecret, verifyAgentJobMessage, type VerifyMessageOptions } from './verify-agent-job-message.js';

const AGENT_SECRET = 'a secret that only the processes of one installation have';
const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
const JOB: AgentJobOf<'swap'> = {
  operation: 'swap',
  wallet: 'main',
  input: { amount: '1.5', fromToken: '0x0', toToken: 'USDC', slippageBps: 50 },
};

const redis = useRedis();
const apiKeys = new ApiKeyStore(redis);

const verify = (message: unknown, options: Partial<VerifyMessageOptions> = {}) =>
  verifyAgentJobMessage(message, { agentSecret: AGENT_SECRET, apiKeys, nowMs: NOW_MS, maxAgeMs: 600_000, ...options });

async function createKey(scopes: readonly ApiKeyScope[] = ['submit'], wallets = ['main']) {
  const { key } = await apiKeys.create({ name: 'service', scopes, wallets });
  return { keyId: key.id, secret: deriveEnqueueSecret(AGENT_SECRET, key.id) };
}

async function sign(key: { keyId: string; secret: string }, job: object = JOB): Promise<AgentJobMessage> {
  return signAgentJobMessage(job as typeof JOB, {
    ...key,
    idempotencyKey: 'order-7',
    issuedAtMs: NOW_MS,
  });
}

describe('verifyAgentJobMessage', () => {
  it('accepts a message signed with a key of the scope submit, after it passed through the queue', async () => {
    const key = await createKey();
    const message: unknown = JSON.parse(JSON.stringify(await sign(key)));
    const verdict = { outcome: 'verified', request: JOB, idempotencyKey: 'order-7', keyId: key.keyId };
    expect(await verify(message)).toEqual(verdict);
    const reordered = Object.fromEntries(Object.entries(message as object).reverse());
    expect(await verify(reordered)).toEqual(verdict);
  });

  it('refuses a message with any changed field', async () => {
    const [key, other] = [await createKey(), await createKey()];
    const message = await sign(key);
    const changes: Partial<Record<keyof AgentJobMessage, unknown>>[] = [
      { operation: 'stake' },
      { wallet: 'other' },
      { idempotencyKey: 'order-8' },
      { keyId: other.keyId },
      { issuedAt: new Date(NOW_MS + 1).toISOString() },
      { input: { ...message.input, amount: '15' } },
      { input: { ...message.input, slippageBps: 5000 } },
      { input: {} },
      { signature: `${message.signature.startsWith('A') ? 'B' : 'A'}${message.signature.slice(1)}` },
    ];
    for (const change of changes) {
      expect(await verify({ ...message, ...change })).toMatchObject({ code: 'signature_wrong', keyId: null });
    }
  });

  it('refuses a signature with another secret', async () => {
    const key = await createKey();
    const forged = await sign({ ...key, secret: deriveEnqueueSecret('another installation', key.keyId) });
    expect(await verify(forged)).toMatchObject({ code: 'signature_wrong' });
    const own = await createKey();
    expect(await verify(await sign({ ...key, secret: own.secret }))).toMatchObject({ code: 'signature_wrong' });
  });

  it.each([
    ['message_too_old', 600_001],
    ['message_from_the_future', -60_001],
  ])('refuses as %s a message issued %i ms ago', async (code, ageMs) => {
    const key = await createKey();
    const message = await sign(key);
    expect(await verify(message, { nowMs: NOW_MS + ageMs })).toMatchObject({ code, keyId: key.keyId });
    expect(await verify(message, { nowMs: NOW_MS + ageMs - Math.sign(ageMs) })).toMatchObject({ outcome: 'verified' });
  });

  it('refuses a key that is revoked, unknown, without the scope, or for other wallets', async () => {
    const revoked = await createKey();
    await apiKeys.revoke(revoked.keyId);
    const unknown = { keyId: 'abcdefabcdef', secret: deriveEnqueueSecret(AGENT_SECRET, 'abcdefabcdef') };
    expect(await verify(await sign(revoked))).toMatchObject({ code: 'key_revoked' });
    expect(await verify(await sign(unknown))).toMatchObject({ code: 'key_unknown' });
    expect(await verify(await sign(await createKey(['read', 'operator'])))).toMatchObject({ code: 'scope_missing' });
    expect(await verify(await sign(await createKey(['submit'], ['other'])))).toMatchObject({
      code: 'wallet_not_allowed',
    });
    expect(await verify(await sign(await createKey(['submit'], ['*'])))).toMatchObject({ outcome: 'verified' });
  });

  it('refuses a signed request that is not a valid job, with its problems', async () => {
    const input = { ...JOB.input, amount: '-1', nonce: 3 };
    expect(await verify(await sign(await createKey(), { ...JOB, input }))).toMatchObject({
      code: 'request_invalid',
      detail: expect.stringMatching(/input\.nonce must be omitted.*input\.amount must be/),
    });
  });

  it.each([
    ['version', 2],
    ['version', '1'],
    ['input', { amount: { deep: 1 } }],
    ['input', ['1']],
    ['wallet', ''],
    ['idempotencyKey', 'with space'],
    ['idempotencyKey', '"order-7'],
    ['idempotencyKey', 'x'.repeat(256)],
    ['issuedAt', '2026-13-40T00:00:00Z'],
    ['issuedAt', NOW_MS],
    ['keyId', '../../../etc'],
    ['signature', ''],
    ['signature', undefined],
  ])('refuses the %s %j before any signature is computed', async (name, value) => {
    const message = { ...(await sign(await createKey())), [name]: value };
    expect(await verify(message)).toMatchObject({ code: 'message_malformed', detail: expect.stringContaining(name) });
  });

  it('refuses an unknown field', async () => {
    const message = { ...(await sign(await createKey())), rawTx: '0x02' };
    expect(await verify(message)).toMatchObject({ code: 'message_malformed' });
  });

  it('never throws, whatever the message is', async () => {
    const deep: unknown = JSON.parse(`${'{"input":'.repeat(50_000)}1${'}'.repeat(50_000)}`);
    expect(await verify(deep)).toMatchObject({ code: 'message_malformed' });
    const message = await sign(await createKey());
    const changed = fc
      .tuple(fc.constantFrom(...Object.keys(message)), fc.jsonValue())
      .map(([name, value]) => ({ ...message, [name]: value }));
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue(), changed), async (value) => {
        expect((await verify(value)).outcome).toBe('refused');
      }),
    );
  });

  it('neither verifies nor refuses while the keys cannot be read', async () => {
    const message = await sign(await createKey());
    const gone = redis.duplicate();
    gone.disconnect();
    await expect(verify(message, { apiKeys: new ApiKeyStore(gone) })).rejects.toThrow();
  });
});
