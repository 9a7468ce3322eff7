import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

import { PLAN_JOB, PLAN_QUEUE, RequestReplyServer, type PlanJobReply } from '@tollgate/transport';

import { sampleStep } from '../../../../libs/journal/test/sample-jobs.js';
import { AgentsFixture } from '../../test/start-agents.js';

const run = promisify(execFile);
const page = readFileSync('docs/agent-jobs.md', 'utf8');
/** Each command of the page with the response shown below it. */
const examples = [...page.matchAll(/```sh\n([\s\S]*?)```\n\n```json\n([\s\S]*?)```/g)].map(
  ([, command = '', answer = '']) => ({ command, answer: JSON.parse(answer) as unknown }),
);

describe('docs/agent-jobs.md', () => {
  let agents: AgentsFixture;
  let worker: RequestReplyServer;
  const env: Record<string, string> = {};

  beforeAll(async () => {
    agents = await AgentsFixture.start({ AGENT_SECRET: 'an-agent-secret-of-more-than-thirty-two-characters' });
    const [owner, operator] = [await agents.createKey(['submit', 'read']), await agents.createKey(['operator'])];
    const { id: jobId } = await agents.submitSample(await agents.createKey(['submit']));
    const token = (await agents.journal.takeLease(agents.lane, 'worker', 600_000))!.token;
    const approval = { plan: null, floorsHash: 'f', needsApproval: true };
    await agents.journal.putPlan({ jobId, stepIndex: 0, token, steps: [sampleStep()], ...approval });
    Object.assign(env, { GATE: agents.gateway.url, KEY: owner.token, OPERATOR: operator.token, WAITING: jobId });
    worker = new RequestReplyServer({ redisUrl: agents.server.url, queue: PLAN_QUEUE, routingKeys: ['main'] });
    worker.addHandler(PLAN_JOB, async () => PLANNED);
    await new Promise<void>((resolve) => void worker.listen(() => resolve()));
  });

  afterAll(async () => {
    await worker.close();
    await agents.stop();
  });

  it('has examples', () => {
    expect(examples.length).toBeGreaterThan(5);
  });

  it.each(examples)('$command', async ({ command, answer }) => {
    const { stdout } = await run('sh', ['-c', command], { env: { ...process.env, ...env } });
    expect(JSON.parse(stdout)).toEqual(toMatcher(answer));
  });
});

/** A worker's reply; the worker's own specs test what it plans. */
const PLANNED: PlanJobReply = {
  outcome: 'planned',
  plan: {
    summary: 'Send 0.5 SEI to 0x…a11ce',
    preview: 'Send 0.5 SEI to 0x…a11ce',
    spends: [{ token: '0x0', symbol: 'SEI', amount: '0.5' }],
    receives: [],
    recipients: [],
    warnings: [],
    slippageBps: null,
    floorsHash: 'f',
    needsApproval: false,
  },
};

/** `…` in a text of the page matches anything; objects may have more fields than the page shows. */
function toMatcher(shown: unknown): unknown {
  if (typeof shown === 'string' && shown.includes('…')) {
    return expect.stringMatching(new RegExp(`^${shown.replace('…', '[\\s\\S]+')}$`)) as unknown;
  }
  if (Array.isArray(shown)) return shown.map(toMatcher);
  if (typeof shown !== 'object' || shown === null) return shown;
  const fields = Object.entries(shown).map(([name, value]) => [name, toMatcher(value)]);
  return expect.objectContaining(Object.fromEntries(fields)) as unknown;
}
