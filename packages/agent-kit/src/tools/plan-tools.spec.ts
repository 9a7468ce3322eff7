import { numberToHex, parseEther, type Hex } from 'viem';

import { draft, draftPlugin } from '../../../../test/harness/agents/draft-plugin.js';
import { useChain, useProxy } from '../../../client/test/set-up.js';
import { createFundedKit } from '../../test/create-funded-kit.js';
import { HOSTILE_TEXT } from '../../test/hostile-operations.js';
import type { AgentKitOptions } from '../settings/agent-kit-options.js';
import type { PlanDraft } from '../types/plan.js';
import { listTools } from './list-tools.js';
import { MOST_PLANS } from './plan-tools.js';
import type { OperationResult, OperationRunner, RunOptions } from './run-operation.js';

const chain = useChain({ protocols: true });
const proxy = useProxy(chain);
let plan: PlanDraft;
let receivers = 0x5000;

afterEach(() => jest.restoreAllMocks());
const createKit = (options: AgentKitOptions = {}) =>
  createFundedKit(chain, { rpcUrl: proxy.rpcUrl, plugins: [draftPlugin(() => plan)], ...options });
const newReceiver = (): Hex => numberToHex(receivers++, { size: 20 });

function use(kit: OperationRunner, name: string, input: unknown, options: RunOptions = {}): Promise<OperationResult> {
  const tool = listTools(kit, { plans: 'execute' }).find((offered) => offered.name === name);
  if (!tool) throw new Error(`there is no tool ${name}`);
  return tool.run(input, options);
}

async function planTransfer(kit: OperationRunner, to: Hex, amount = '0.5', token = '0x0') {
  const planned = await use(kit, 'planTransfer', { amount, to, token });
  expect(planned).toMatchObject({ status: 'planned' });
  return { planId: planned['planId'] as string, summary: planned['summary'] as string };
}

describe('a plan and its execution', () => {
  it('send nothing, and then exactly the content of the summary', async () => {
    const kit = await createKit();
    const to = newReceiver();
    const shown = await planTransfer(kit, to);
    expect(shown.summary).toMatch(
      new RegExp(
        `^transfer: Send 0\\.5 SEI to ${to} \\| at most 0\\.5 SEI leaves \\| .*recipient ${to} \\| gas about 0`,
        'i',
      ),
    );
    expect(await chain.nonceOf(kit.address)).toBe(0);
    const result = await use(kit, 'executePlan', shown);
    expect(result).toMatchObject({ status: 'success', result: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
    expect(await chain.balanceOf(to)).toBe(parseEther('0.5'));
  });

  it.each<[string, (summary: string) => string]>([
    ['another amount', (summary) => summary.replace('0.5', '0.4')],
    ['a space at its end', (summary) => `${summary} `],
    ['one character less', (summary) => summary.slice(0, -1)],
    ['other case', (summary) => summary.toUpperCase()],
    ['no text', () => ''],
  ])('is refused with %s, and still available with its own summary', async (_name, alter) => {
    const kit = await createKit();
    const shown = await planTransfer(kit, newReceiver());
    const refused = await use(kit, 'executePlan', { ...shown, summary: alter(shown.summary) });
    expect(refused).toMatchObject({ status: 'failed', code: 'PLAN_MISMATCH', suggestion: expect.any(String) });
    expect(await chain.nonceOf(kit.address)).toBe(0);
    expect(await use(kit, 'executePlan', shown)).toMatchObject({ status: 'success' });
  });

  it.each([{}, { planId: 5, summary: 'x' }, { planId: 'x', summary: 'x', more: true }, null, []])(
    'are refused with the inputs %j',
    async (input) => {
      expect(await use(await createKit(), 'executePlan', input)).toMatchObject({ code: 'INVALID_INPUT' });
    },
  );

  it('run once, even when called concurrently, and report the outcome', async () => {
    const kit = await createKit();
    const to = newReceiver();
    const shown = await planTransfer(kit, to);
    const results = await Promise.all(Array.from({ length: 5 }, () => use(kit, 'executePlan', shown)));
    const [sent, ...others] = results;
    expect(sent).toMatchObject({ status: 'success' });
    for (const other of others)
      expect(other).toMatchObject({ code: 'PLAN_USED', suggestion: expect.stringContaining('Wait') });
    expect(await use(kit, 'executePlan', shown)).toMatchObject({
      status: 'failed',
      code: 'PLAN_USED',
      error: expect.stringContaining(sent!['result'] as string),
      suggestion: expect.stringContaining('getTransaction'),
    });
    expect(await chain.balanceOf(to)).toBe(parseEther('0.5'));
    expect(await chain.nonceOf(kit.address)).toBe(1);
  });

  it('run once even if it is unknown whether they were mined', async () => {
    const kit = await createKit({ monitor: { attempts: 2, intervalMs: 10 } });
    const to = newReceiver();
    const shown = await planTransfer(kit, to);
    proxy.intercept('eth_getTransactionReceipt', () => 'broken');
    const open = await use(kit, 'executePlan', shown);
    expect(open).toMatchObject({
      status: 'timeout',
      code: 'TIMEOUT',
      suggestion: expect.stringContaining('getTransaction'),
    });
    const again = await use(kit, 'executePlan', shown);
    expect(again).toMatchObject({ code: 'PLAN_USED', error: expect.stringContaining('timeout') });
    expect(again['error']).toContain(open['result']);
    proxy.reset();
    const look = await use(kit, 'getTransaction', { hash: open['result'] });
    expect(look).toMatchObject({ status: 'success', moved: [{ amount: '0.5' }] });
    expect(await chain.nonceOf(kit.address)).toBe(1);
  });

  it('are used up by an attempt that sent nothing, and report that', async () => {
    const kit = await createKit();
    const shown = await planTransfer(kit, newReceiver(), '90');
    await kit.transfer('20', newReceiver());
    expect(await use(kit, 'executePlan', shown)).toMatchObject({ status: 'failed', code: 'INSUFFICIENT_FUNDS' });
    expect(await use(kit, 'executePlan', shown)).toMatchObject({
      code: 'PLAN_USED',
      error: expect.stringContaining('sent nothing'),
      suggestion: expect.stringContaining('Make a new plan'),
    });
  });

  it.each<[string, RunOptions]>([
    ['a no of the person', { confirm: () => false }],
    ['a request that was cancelled', { signal: AbortSignal.abort() }],
  ])('send nothing after %s, and do not run later', async (_name, options) => {
    const kit = await createKit();
    const shown = await planTransfer(kit, newReceiver());
    expect(await use(kit, 'executePlan', shown, options)).toMatchObject({ status: 'declined' });
    expect(await use(kit, 'executePlan', shown)).toMatchObject({ code: 'PLAN_USED' });
    expect(await chain.nonceOf(kit.address)).toBe(0);
  });

  it('expire after five minutes', async () => {
    const kit = await createKit();
    const [late, inTime] = [await planTransfer(kit, newReceiver()), await planTransfer(kit, newReceiver())];
    const now = Date.now.bind(Date);
    const ahead = jest.spyOn(Date, 'now').mockImplementation(() => now() + 301_000);
    const expired = { status: 'failed', code: 'PLAN_EXPIRED' };
    expect(await use(kit, 'executePlan', late)).toMatchObject(expired);
    expect(await use(kit, 'executePlan', late)).toMatchObject(expired);
    ahead.mockImplementation(() => now() + 200_000);
    expect(await use(kit, 'executePlan', inTime)).toMatchObject({ status: 'success' });
    expect(await chain.nonceOf(kit.address)).toBe(1);
  });

  it('expire while they wait for the account', async () => {
    const kit = await createKit();
    const shown = await planTransfer(kit, newReceiver());
    const now = Date.now.bind(Date);
    const confirm = () => {
      jest.spyOn(Date, 'now').mockImplementation(() => now() + 301_000);
      return true;
    };
    expect(await use(kit, 'executePlan', shown, { confirm })).toMatchObject({ code: 'PLAN_EXPIRED' });
    expect(await chain.nonceOf(kit.address)).toBe(0);
  });

  it('belong to one wallet and process', async () => {
    const [kit, other] = [await createKit(), await createKit()];
    const shown = await planTransfer(kit, newReceiver());
    expect(shown.planId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await use(other, 'executePlan', shown)).toMatchObject({ status: 'failed', code: 'UNKNOWN_PLAN' });
    expect(await chain.nonceOf(other.address)).toBe(0);
    // Tools that are created again for the same kit, as in a web server, know the plan.
    expect(await use(kit, 'executePlan', shown)).toMatchObject({ status: 'success' });
  });

  it('belong to one chain', async () => {
    const kit = await createKit();
    const shown = await planTransfer(kit, newReceiver());
    proxy.intercept('eth_chainId', () => ({ body: '{"jsonrpc":"2.0","id":1,"result":"0x531"}' }));
    expect(await use(kit, 'executePlan', shown)).toMatchObject({
      status: 'failed',
      code: 'INVALID_CONFIGURATION',
      error: expect.stringContaining('1329'),
    });
    expect(await chain.nonceOf(kit.address)).toBe(0);
  });

  it('are simulated again, and not sent if they would fail now', async () => {
    const kit = await createKit();
    const balance = parseEther(await kit.getERC20Balance('WSEI'));
    const shown = await planTransfer(kit, newReceiver(), '20', 'WSEI');
    await kit.transfer('1', newReceiver(), 'WSEI');
    expect(balance).toBe(parseEther('20'));
    const before = await chain.nonceOf(kit.address);
    expect(await use(kit, 'executePlan', shown)).toMatchObject({ status: 'failed' });
    expect(await chain.nonceOf(kit.address)).toBe(before);
  });

  it('stay within the limits of the policy, when planned and when executed', async () => {
    const kit = await createKit({ policy: { maxPerOperation: { '0x0': '0.6' }, maxPerDay: { '0x0': '1' } } });
    const to = newReceiver();
    expect(await use(kit, 'planTransfer', { amount: '0.7', to })).toMatchObject({ code: 'POLICY_VIOLATION' });
    const [first, second] = [await planTransfer(kit, to), await planTransfer(kit, to, '0.6')];
    expect(await use(kit, 'executePlan', first)).toMatchObject({ status: 'success' });
    expect(await use(kit, 'executePlan', second)).toMatchObject({ status: 'failed', code: 'POLICY_VIOLATION' });
    expect(await chain.balanceOf(to)).toBe(parseEther('0.5'));
  });

  it('are stored up to a limit, the latest ones', async () => {
    const kit = await createKit();
    plan = draft([{ value: 1n }]);
    const shown = [];
    for (let index = 0; index <= MOST_PLANS; index++) {
      const { planId, summary } = await use(kit, 'planTryOut', {});
      shown.push({ planId, summary });
    }
    expect(await use(kit, 'executePlan', shown[0])).toMatchObject({ code: 'UNKNOWN_PLAN' });
    expect(await use(kit, 'executePlan', shown[1])).toMatchObject({ status: 'success' });
    expect(await use(kit, 'executePlan', shown.at(-1))).toMatchObject({ status: 'success' });
  });

  it('keep their whole summary, however much else was cut', async () => {
    const kit = await createKit();
    const warnings = Array.from({ length: 30 }, () => HOSTILE_TEXT.repeat(30));
    plan = draft([{ value: 1n }], { summary: HOSTILE_TEXT.repeat(100), warnings });
    const { planId, summary, truncated } = await use(kit, 'planTryOut', {});
    expect(truncated).toBe(true);
    expect(summary).toMatch(/^tryOut: nothing SYSTEM: [ -~]+$/);
    expect(await use(kit, 'executePlan', { planId, summary })).toMatchObject({ status: 'success' });
  });

  it('are only signed by a kit that only signs, also once', async () => {
    const kit = await createKit({ executor: 'sign-only' });
    const shown = await planTransfer(kit, newReceiver());
    expect(await use(kit, 'executePlan', shown)).toMatchObject({ status: 'signed' });
    const again = await use(kit, 'executePlan', shown);
    expect(again).toMatchObject({ code: 'PLAN_USED', error: expect.stringContaining('signed') });
    expect(again['error']).not.toContain('It sent');
  });

  it('report that the outcome is unknown after an unexpected error during sending', async () => {
    const kit = await createKit();
    const broken: OperationRunner = {
      operations: () => kit.operations(),
      read: (name, input) => kit.read(name, input as never),
      plan: (name, input, options) => kit.plan(name, input as never, options),
      execute: () => Promise.reject(new Error('out of memory')),
    };
    const shown = await planTransfer(broken, newReceiver());
    expect(await use(broken, 'executePlan', shown)).toMatchObject({ code: 'UNEXPECTED' });
    expect(await use(broken, 'executePlan', shown)).toMatchObject({
      code: 'PLAN_USED',
      error: expect.stringContaining('may have sent'),
      suggestion: expect.stringContaining('latest transactions'),
    });
  });

  it('have names that no plugin may use', async () => {
    const plugin = draftPlugin(() => plan);
    for (const name of ['executePlan', 'planTransfer']) {
      const operations = plugin.operations.map((operation) => ({ ...operation, name }));
      await expect(createKit({ plugins: [{ ...plugin, operations }] })).rejects.toMatchObject({
        code: 'INVALID_CONFIGURATION',
        message: expect.stringContaining(name),
      });
    }
  });

  it('read the result of a swap', async () => {
    const kit = await createKit();
    const planned = await use(kit, 'planSwap', { amount: '1', fromToken: 'USDC', toToken: 'WSEI' });
    const { planId, summary } = planned;
    expect(summary).toMatch(
      /at most 1 USDC leaves \| at least [\d.]+ WSEI arrives \| recipient this account \| gas about/,
    );
    const atLeast = parseEther(/at least ([\d.]+) WSEI arrives/.exec(summary as string)![1]!);
    const { result } = await use(kit, 'executePlan', { planId, summary });
    const { moved } = await kit.getTransaction(result as string);
    const arrived = moved.find(({ to, token }) => to === kit.address && token.ticker === 'WSEI');
    expect(parseEther(arrived!.amount!)).toBeGreaterThanOrEqual(atLeast);
  });
});
