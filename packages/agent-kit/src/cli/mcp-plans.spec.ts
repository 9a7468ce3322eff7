import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { numberToHex, parseEther, parseUnits, toHex, type Hex } from 'viem';

import { useChain, useFolder } from '../../../client/test/set-up.js';
import { startMcpClient, startMcpProgram } from '../../test/start-mcp-client.js';

const chain = useChain({ protocols: true });
const directory = useFolder(beforeAll, afterAll);
let receivers = 0x7000;
const open: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const newReceiver = (): Hex => numberToHex(receivers++, { size: 20 });

/** A client without elicitation, so that it cannot ask its person, and a server for an account of the devnet. */
async function start(args: string[], account = 0, env: Record<string, string> = {}, startServer = startMcpClient) {
  const { privateKey } = chain.accounts[account]!;
  const wallet = { RPC_URL: chain.rpcUrl, WALLET_PRIVATE_KEY: privateKey, TOLLGATE_STATE_DIR: directory() };
  const started = await startServer(args, { ...wallet, ...env });
  open.push(started);
  const { client, stderr } = started;
  const { tools } = await client.listTools();
  const call = async (name: string, input: Record<string, unknown> = {}) => {
    const { structuredContent, isError } = await client.callTool({ name, arguments: input });
    return { isError, ...(structuredContent as Record<string, unknown>) } as Record<string, unknown>;
  };
  return { tools, call, stderr };
}

type Call = Awaited<ReturnType<typeof start>>['call'];

async function planTransfer(call: Call, to: Hex, amount = '0.25') {
  const { planId, summary } = await call('planTransfer', { amount, to });
  return { planId, summary };
}

describe('plans over MCP', () => {
  it('are neither shown nor executed without the flag', async () => {
    const { tools, call } = await start([]);
    expect(tools.filter(({ name }) => /plan/i.test(name))).toEqual([]);
    const sent = await chain.nonceOf(chain.accounts[0]!.address);
    expect(await call('transfer', { amount: '1', to: newReceiver() })).toMatchObject({
      status: 'declined',
      suggestion: expect.stringContaining('--execute-plans'),
    });
    expect(await chain.nonceOf(chain.accounts[0]!.address)).toBe(sent);
  });

  it('are executed with the flag: a swap in two steps, and a look at what it moved', async () => {
    const { tools, call, stderr } = await start(['--execute-plans']);
    expect(tools.find(({ name }) => name === 'planSwap')?.annotations).toMatchObject({
      readOnlyHint: true,
      destructiveHint: false,
    });
    expect(tools.find(({ name }) => name === 'executePlan')?.annotations).toEqual({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    });
    expect(stderr()).toContain('sends plans that the client approves');
    const { address } = await call('getAccount');
    expect(address).toBe(chain.accounts[0]!.address);
    const planned = await call('planSwap', { amount: '1', fromToken: 'USDC', toToken: 'WSEI' });
    expect(planned).toMatchObject({
      isError: false,
      status: 'planned',
      summary: expect.stringMatching(/^swap: Swap 1 USDC for at least [\d.]+ WSEI \| at most 1 USDC leaves \| [ -~]+$/),
      preview: expect.arrayContaining([expect.stringContaining('leaves')]),
    });
    const { planId, summary } = planned;
    const atLeast = /at least ([\d.]+) WSEI arrives/.exec(String(summary))![1]!;
    const { isError, status, result, arrived } = await call('executePlan', { planId, summary });
    expect({ isError, status }).toEqual({ isError: false, status: 'success' });
    const seen = await call('getTransaction', { hash: result });
    expect(seen).toMatchObject({ isError: false, status: 'success', receipt: { status: 'success' } });
    const moved = seen['moved'] as { token: { ticker: string }; amount: string; to: string }[];
    const got = moved.find(({ to, token }) => to === address && token.ticker === 'WSEI')!;
    expect(parseUnits(got.amount, 18)).toBeGreaterThanOrEqual(parseUnits(atLeast, 18));
    expect(arrived).toEqual([{ amount: got.amount, token: got.token }]);
    expect(await call('getTransaction', { hash: toHex(1, { size: 32 }) })).toMatchObject({
      isError: true,
      status: 'failed',
      code: 'UNKNOWN_TRANSACTION',
    });
  });

  it('are executed once, with their own summary, whatever is called at the same time', async () => {
    const { call } = await start(['--execute-plans']);
    const to = newReceiver();
    const shown = await planTransfer(call, to);
    const altered = { ...shown, summary: String(shown.summary).replace('0.25', '0.026') };
    expect(await call('executePlan', altered)).toMatchObject({ isError: true, code: 'PLAN_MISMATCH' });
    const results = await Promise.all([1, 2, 3].map(() => call('executePlan', shown)));
    expect(results.map(({ status, code }) => code ?? status).sort()).toEqual(['PLAN_USED', 'PLAN_USED', 'success']);
    expect(await call('executePlan', shown)).toMatchObject({ isError: true, code: 'PLAN_USED' });
    expect(await chain.balanceOf(to)).toBe(parseEther('0.25'));
    expect(await call('transfer', { amount: '1', to })).toMatchObject({
      status: 'declined',
      suggestion: expect.stringMatching(/planTransfer.*executePlan/),
    });
  });

  it.each([
    ['another process', 0],
    ['another wallet', 1],
  ])('are not known to %s', async (_name, account) => {
    const first = await start(['--execute-plans']);
    const other = await start(['--execute-plans'], account, {}, startMcpProgram);
    const to = newReceiver();
    const shown = await planTransfer(first.call, to);
    expect(await other.call('executePlan', shown)).toMatchObject({ isError: true, code: 'UNKNOWN_PLAN' });
    expect(await chain.balanceOf(to)).toBe(0n);
  });

  it('stay under the policy', async () => {
    const file = join(directory(), 'policy.json');
    await writeFile(file, JSON.stringify({ maxPerOperation: { '0x0': '0.6' }, maxPerDay: { '0x0': '1' } }));
    const { call } = await start(['--execute-plans'], 0, { POLICY_FILE: file });
    const to = newReceiver();
    expect(await call('planTransfer', { amount: '0.7', to })).toMatchObject({
      isError: true,
      code: 'POLICY_VIOLATION',
    });
    const [one, two] = [await planTransfer(call, to, '0.6'), await planTransfer(call, to, '0.6')];
    expect(await call('executePlan', one)).toMatchObject({ status: 'success' });
    expect(await call('executePlan', two)).toMatchObject({ isError: true, code: 'POLICY_VIOLATION' });
    expect(await chain.balanceOf(to)).toBe(parseEther('0.6'));
  });

  it('are absent from a read-only server, which has no flag to execute them', async () => {
    const { tools } = await start(['--read-only']);
    expect(tools.filter(({ name }) => /plan/i.test(name))).toEqual([]);
    await expect(start(['--read-only', '--execute-plans'])).rejects.toThrow();
  });
});
