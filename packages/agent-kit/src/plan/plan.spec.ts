import { encodeFunctionData, parseAbi, parseEther, parseUnits } from 'viem';

import { draft, draftPlugin } from '../../../../test/harness/agents/draft-plugin.js';
import { refusal } from '../../../../test/harness/network/rpc-proxy.js';
import { awaitReceipt } from '../../../../test/harness/payments/await-receipt.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { expectFailure, useChain, useProxy } from '../../../client/test/set-up.js';
import { kitOf } from '../../test/create-funded-kit.js';
import type { AgentKitOptions } from '../settings/agent-kit-options.js';
import { createApprovalStep } from '../tokens/create-steps.js';
import type { Plan, PlanDraft } from '../types/plan.js';
import type { Token } from '../types/token.js';

const RECEIVER = '0x00000000000000000000000000000000000a11ce';
const marketAbi = parseAbi(['function mint(uint256 amount) returns (uint256)']);

describe('plans', () => {
  const chain = useChain({ protocols: true });
  const proxy = useProxy(chain);
  let usdc: Token;
  let plan: PlanDraft;

  beforeAll(async () => {
    usdc = { address: chain.asset, symbol: 'USDC', decimals: 6, isNative: false, isListed: true };
  });

  const createKit = (options: AgentKitOptions = {}) =>
    kitOf(chain, 0, { rpcUrl: proxy.rpcUrl, plugins: [draftPlugin(() => plan)], ...options });
  const supply = (approved: string, supplied: string): PlanDraft => {
    const spender = chain.contracts.lending.markets.USDC;
    const args = [parseUnits(supplied, 6)] as const;
    return draft(
      [
        createApprovalStep({ token: usdc, spender, amountBaseUnits: parseUnits(approved, 6) }),
        {
          label: `Supply ${supplied} USDC`,
          to: spender,
          data: encodeFunctionData({ abi: marketAbi, functionName: 'mint', args }),
        },
      ],
      { spends: [{ token: usdc, amountBaseUnits: parseUnits(supplied, 6) }] },
    );
  };
  const withoutSimulation = () =>
    proxy.intercept('eth_simulateV1', () => refusal(-32601, 'the method eth_simulateV1 does not exist'));

  it('simulate the steps in sequence, and send nothing', async () => {
    const kit = createKit();
    const before = await chain.nonceOf(kit.address);
    plan = supply('10', '10');
    const made = await kit.plan('tryOut', {});
    expect(made.gasEstimate!.gas).toBeGreaterThan(80_000n);
    plan = supply('9', '10');
    await expectFailure(kit.plan('tryOut', {}), 'REVERTED');
    expect(proxy.calls.map(({ method }) => method)).not.toContain('eth_sendRawTransaction');
    expect(await chain.nonceOf(kit.address)).toBe(before);
  });

  it('are made and executed on a node that cannot simulate', async () => {
    withoutSimulation();
    const kit = createKit();
    plan = supply('10', '10');
    const made = await kit.plan('tryOut', {});
    expect(made.gasEstimate).toBeNull();
    expect(await kit.execute(made)).toMatchObject({ status: 'success', transactions: [{}, {}] });
    plan = draft([{ to: chain.asset, data: '0xdeadbeef' }]);
    await expectFailure(kit.plan('tryOut', {}), 'REVERTED');
  });

  it('show what leaves, the recipient, each step, and the gas', async () => {
    const kit = createKit();
    const { preview } = await kit.plan('transfer', { amount: '1.5', to: RECEIVER, token: 'USDC' });
    const lines = preview.split('\n');
    expect(lines.slice(0, -1)).toEqual(
      [
        'Send 1.5 USDC to 0x00000000000000000000000000000000000a11ce',
        '  leaves   at most 1.5 USDC',
        '  goes to  0x00000000000000000000000000000000000a11ce',
        '  step 1   Send 1.5 USDC to 0x00000000000000000000000000000000000a11ce',
      ].map((line) => line.replaceAll(RECEIVER, '0x00000000000000000000000000000000000A11cE')),
    );
    expect(lines.at(-1)).toMatch(/^ {2}gas {6}about 0\.\d+ SEI$/);
  });

  it('are deeply frozen, and independent of data that a plugin still has', async () => {
    const kit = createKit();
    plan = supply('10', '10');
    const made = await kit.plan('tryOut', {});
    const objects: object[] = [];
    const visit = (value: unknown) => {
      if (typeof value !== 'object' || value === null) return;
      objects.push(value);
      Object.values(value).forEach(visit);
    };
    visit(made);
    expect(objects.length).toBeGreaterThan(10);
    expect(objects.filter((object) => !Object.isFrozen(object))).toEqual([]);
    (plan.spends[0] as { amountBaseUnits: bigint }).amountBaseUnits = 0n;
    expect(made.spends[0]!.amountBaseUnits).toBe(parseUnits('10', 6));
  });

  it('are refused when they come from another kit, are copied or altered, or are not plans', async () => {
    const kit = createKit();
    const made = await kit.plan('transfer', { amount: '1', to: RECEIVER });
    const others: unknown[] = [
      await createKit().plan('transfer', { amount: '1', to: RECEIVER }),
      { ...made },
      structuredClone(made),
      { ...made, steps: [{ ...made.steps[0]!, value: parseEther('100') }] },
      Object.create(made),
      JSON.parse('{}'),
      null,
      'plan',
    ];
    for (const other of others) {
      await expectFailure(kit.execute(other as Plan), 'INVALID_INPUT');
    }
    expect(proxy.calls.map(({ method }) => method)).not.toContain('eth_sendRawTransaction');
    expect(await kit.execute(made)).toMatchObject({ status: 'success' });
  });

  it('are executed once, even when they are executed twice at the same time', async () => {
    const kit = createKit();
    await callRpc(chain.rpcUrl, 'anvil_setBalance', [RECEIVER, '0x0']);
    const made = await kit.plan('transfer', { amount: '1', to: RECEIVER });
    const settled = await Promise.allSettled([kit.execute(made), kit.execute(made)]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await expectFailure(kit.execute(made), 'INVALID_INPUT');
    expect(await chain.balanceOf(RECEIVER)).toBe(parseEther('1'));
  });

  it('expire', async () => {
    const kit = createKit();
    plan = draft([{ value: 1n }], { expiresAtMs: Date.now() - 1 });
    const made = await kit.plan('tryOut', {});
    await expectFailure(kit.execute(made), 'PLAN_EXPIRED');
    expect(proxy.calls.map(({ method }) => method)).not.toContain('eth_sendRawTransaction');
  });

  it('can be read but not executed by a kit that only reads', async () => {
    const kit = createKit({ executor: 'read-only' });
    const made = await kit.plan('transfer', { amount: '1', to: RECEIVER });
    await expectFailure(kit.execute(made), 'READ_ONLY');
  });

  it.each([
    ['with the gas of each step', false],
    ['with enough gas where the node cannot simulate', true],
  ])('become bytes that are valid in their order, %s', async (_, isBlind) => {
    if (isBlind) withoutSimulation();
    const kit = createKit({ executor: 'sign-only' });
    plan = supply('7', '7');
    const before = await chain.nonceOf(kit.address);
    const read = () => chain.balanceOf(kit.address, chain.asset);
    const balance = await read();
    const result = await kit.run('tryOut', {});
    expect(result).toMatchObject({ status: 'signed', transactions: [] });
    expect(proxy.calls.map(({ method }) => method)).not.toContain('eth_sendRawTransaction');
    expect(await chain.nonceOf(kit.address)).toBe(before);
    const hashes: unknown[] = [];
    for (const bytes of result.signedTransactions!) {
      hashes.push(await callRpc(chain.rpcUrl, 'eth_sendRawTransaction', [bytes]));
    }
    expect(hashes).toHaveLength(2);
    expect(hashes[1]).toBe(result.result);
    await awaitReceipt(chain.client, result.result!);
    expect(balance - (await read())).toBe(parseUnits('7', 6));
    const { gas } = await chain.client.getTransaction({ hash: result.result! });
    if (!isBlind) expect(gas).toBeLessThan(600_000n);
  });

  it('are not available if their plugin excludes the chain', async () => {
    const kit = createKit({ plugins: [{ ...draftPlugin(() => plan), chainIds: [5] }] });
    await expectFailure(kit.plan('tryOut', {}), 'PROTOCOL_UNAVAILABLE');
  });
});
