import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

import { AGENT_JOBS_QUEUE, AGENT_QUEUE_PREFIX, deriveEnqueueSecret } from '@tollgate/agent-jobs';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';

import { waitFor } from '../harness/retry.js';
import { useAgents } from '../harness/stack/use-agents.js';

const EXAMPLE = 'examples/enqueue-a-job/enqueue.ts';
const AGENT_SECRET = 'an-agent-secret-of-more-than-thirty-two-characters';
const page = readFileSync('examples/enqueue-a-job/README.md', 'utf8');

interface Taken {
  outcome: string;
  jobId: string;
}

describe('examples/enqueue-a-job/README.md', () => {
  const agents = useAgents({ env: { AGENT_SECRET } });
  let queue: Queue<unknown, Taken>;
  let connection: Redis;

  beforeAll(() => {
    connection = new Redis(agents().stack.redis.url, { maxRetriesPerRequest: null });
    queue = new Queue(AGENT_JOBS_QUEUE, { connection, prefix: AGENT_QUEUE_PREFIX });
  });
  afterAll(async () => {
    await queue.close();
    connection.disconnect();
  });

  /** Runs the example as on the page; returns the settled BullMQ job whose id it prints. */
  async function runExample(secret: string, keyId: string) {
    const command = [resolve('node_modules/tsx/dist/cli.mjs'), resolve(EXAMPLE), agents().wallet.name, 'order-17'];
    const settings = { REDIS_URL: agents().stack.redis.url, KEY_ID: keyId, ENQUEUE_SECRET: secret };
    const { stdout } = await promisify(execFile)(process.execPath, command, {
      env: { PATH: process.env['PATH'], ...settings },
    });
    const id = stdout.trim();
    await waitFor('the message is taken', async () => (await queue.getJob(id))?.finishedOn !== undefined);
    return (await queue.getJob(id))!;
  }

  it('shows the example, and names every code of a refusal', () => {
    expect(page).toContain(`\`\`\`ts\n${readFileSync(EXAMPLE, 'utf8')}\`\`\``);
    const sources = [
      'libs/agent-jobs/src/message/verify-agent-job-message.ts',
      'apps/agent-worker/src/consumers/agent-jobs-consumer.ts',
    ];
    const types = sources.map((file) => /RefusalCode =([^;]*);/.exec(readFileSync(file, 'utf8'))?.[1] ?? '');
    const codes = types.flatMap((type) => [...type.matchAll(/'(\w+)'/g)].map(([, code]) => code));
    const [, table = ''] = page.split('\n| code ');
    const documented = [...table.matchAll(/^\| (`.*?`) +\|/gm)].flatMap(([, cell = '']) =>
      cell.replaceAll('`', '').split(', '),
    );
    expect(documented.sort()).toEqual(codes.sort());
  });

  it('carries out the job that the example enqueues, once however often it runs', async () => {
    const key = await agents().stack.agents!.createApiKey(['submit']);
    const secret = deriveEnqueueSecret(AGENT_SECRET, key.id);
    const first = await runExample(secret, key.id);
    expect(first.returnvalue).toEqual({ outcome: 'accepted', jobId: expect.stringMatching(/^j/) });
    const again = await runExample(secret, key.id);
    expect(again.returnvalue).toEqual({ outcome: 'known', jobId: first.returnvalue.jobId });
    await waitFor('the transfer', async () => {
      const job = await agents().journal.readJob(first.returnvalue.jobId);
      return job?.state === 'FINAL';
    });
    expect(await agents().readNewTransactions()).toHaveLength(1);
  });

  it('leaves a message with another secret among the failed ones, with the code', async () => {
    const key = await agents().stack.agents!.createApiKey(['submit']);
    const refused = await runExample('another-secret', key.id);
    expect(refused.failedReason).toMatch(/^signature_wrong: /);
  });
});
