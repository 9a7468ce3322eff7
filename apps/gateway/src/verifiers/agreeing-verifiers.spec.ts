import {
  ASSET_DECIMALS_DIFFER,
  ASSET_DECIMALS_UNKNOWN,
  COMPARE_SETTINGS,
  RequestReplyClient,
  RequestReplyServer,
  type SettingsComparison,
} from '@tollgate/transport';

import { waitFor } from '../../../../test/harness/retry.js';
import { borrowRedis, type BorrowedRedis } from '../../../../test/harness/stack/borrow-redis.js';
import { AgreeingVerifiers, Agreement, SettingsWatch } from './agreeing-verifiers.js';

const OWN = 'PAYMENT_POLICY=transfer';
const OTHER = 'PAYMENT_POLICY=receipt';

describe('a gateway among verifiers with different settings', () => {
  let redis: BorrowedRedis;
  let client: RequestReplyClient;
  let agreement: Agreement;
  let verifiers: AgreeingVerifiers;
  const servers: RequestReplyServer[] = [];
  const asked = { agreeing: 0, differing: 0 };

  beforeAll(async () => {
    redis = await borrowRedis();
  });
  afterAll(() => redis.stop());

  beforeEach(async () => {
    asked.agreeing = asked.differing = 0;
    client = new RequestReplyClient({ redisUrl: redis.url, queue: 'verify' });
    await client.connect();
    agreement = new Agreement({ own: OWN });
    verifiers = new AgreeingVerifiers({ client, agreement, settings: OWN });
  });
  afterEach(async () => {
    await Promise.all([client.close(), ...servers.splice(0).map((server) => server.close())]);
  });

  async function startVerifier(settings: string, work = () => Promise.resolve(), told = {}): Promise<void> {
    const server = new RequestReplyServer({ redisUrl: redis.url, queue: 'verify' });
    server.addHandler(COMPARE_SETTINGS, async (request: { settings?: unknown }) => {
      const agrees = request.settings === settings;
      asked[agrees ? 'agreeing' : 'differing'] += 1;
      if (!agrees) return { outcome: 'unavailable', reason: 'settings_differ', settings };
      await work();
      return { outcome: 'agreed', ...told };
    });
    await server.listen(() => undefined);
    servers.push(server);
  }

  const ask = () => verifiers.ask(COMPARE_SETTINGS, {}, { timeoutMs: 10_000, retryAfterMs: 5_000 });

  it('is served by an agreeing verifier, whichever takes its questions first', async () => {
    await startVerifier(OTHER);
    await startVerifier(OWN, () => new Promise((resolve) => setTimeout(resolve, 20)));
    await waitFor('one agrees', async () => (await ask()).outcome === 'agreed');
    const answers: SettingsComparison[] = [];
    // A question is repeated for three seconds, in which a busy machine does not answer all of them at once.
    while (answers.length < 300) answers.push(...(await Promise.all(Array.from({ length: 20 }, ask))));
    expect(answers.filter(({ outcome }) => outcome !== 'agreed')).toEqual([]);
    expect(asked.differing).toBeGreaterThan(0);
  });

  it('gets settings_differ if none agrees, immediately if none has for a while', async () => {
    await startVerifier(OTHER);
    agreement.noteAgreed();
    expect(await ask()).toEqual({ outcome: 'unavailable', reason: 'settings_differ', settings: OTHER });
    expect(asked.differing).toBeGreaterThan(1);
    asked.differing = 0;
    verifiers = new AgreeingVerifiers({ client, agreement: new Agreement({ own: OWN }), settings: OWN });
    expect(await ask()).toMatchObject({ reason: 'settings_differ' });
    expect(asked.differing).toBe(1);
  });

  it.each([ASSET_DECIMALS_DIFFER, ASSET_DECIMALS_UNKNOWN])(
    'does not agree with a verifier that says %s',
    async (reason) => {
      const server = new RequestReplyServer({ redisUrl: redis.url, queue: 'verify' });
      const unready = { outcome: 'unavailable', reason };
      server.addHandler(COMPARE_SETTINGS, () => Promise.resolve(unready));
      await server.listen(() => undefined);
      servers.push(server);
      expect(await ask()).toEqual(unready);
      expect(agreement.isFresh()).toBe(false);
    },
  );

  it('notices an agreement without any payment', async () => {
    const watch = new SettingsWatch(verifiers, agreement);
    void watch.start();
    try {
      await startVerifier(OTHER);
      const readTrouble = () => agreement.check().catch(String);
      const told = 'PAYMENT_POLICY is transfer here and receipt there';
      await waitFor('it knows what differs', async () => String(await readTrouble()).includes(told));
      expect(agreement.takesAuthorizations).toBe(true);
      await startVerifier(OWN, undefined, { takesAuthorizations: false });
      await waitFor('it agrees', () => agreement.isFresh());
      await waitFor('it is told what is taken', () => !agreement.takesAuthorizations);
    } finally {
      watch.stop();
    }
  });
});
