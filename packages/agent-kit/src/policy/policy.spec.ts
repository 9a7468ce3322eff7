import fc from 'fast-check';
import { getAddress, parseUnits, type Address } from 'viem';

import { draft, draftPlugin } from '../../../../test/harness/agents/draft-plugin.js';
import { expectFailure, useChain } from '../../../client/test/set-up.js';
import { kitOf } from '../../test/create-funded-kit.js';
import { AgentKit } from '../agent-kit.js';
import { createApprovalStep, encodeApproval } from '../tokens/create-steps.js';
import type { PlanDraft } from '../types/plan.js';
import { NATIVE_TOKEN, type Token } from '../types/token.js';
import type { SpendingPolicy } from './policy.js';
import { DailySpending, listSpending } from './spending.js';

const RECEIVER = '0x00000000000000000000000000000000000a11ce';
const STRANGER = '0x000000000000000000000000000000000000bad1';
const native: Token = { address: NATIVE_TOKEN, symbol: 'SEI', decimals: 18, isNative: true, isListed: true };
const token = (address: string): Token => ({
  address: address as Address,
  symbol: 'T',
  decimals: 6,
  isNative: false,
  isListed: false,
});

describe('the policy of a kit', () => {
  const chain = useChain({ protocols: true });
  let plan: PlanDraft;

  const createKit = (policy: SpendingPolicy, account = 0) =>
    kitOf(chain, account, { plugins: [draftPlugin(() => plan)], policy });
  const forbidden = { code: 'POLICY_VIOLATION' };
  const forbid = (work: Promise<unknown>) => expectFailure(work, 'POLICY_VIOLATION');
  const pay = (kit: AgentKit, amount: string, symbol?: string, to: string = RECEIVER) =>
    kit.run('transfer', { amount, to, ...(symbol === undefined ? {} : { token: symbol }) });

  it('allows only its operations', async () => {
    const kit = createKit({ operations: ['approve'] });
    await forbid(pay(kit, '1'));
    expect(await kit.read('getERC20Balance', {})).toMatchObject({ status: 'success' });
  });

  it('allows only its recipients, whatever a plan declares', async () => {
    const kit = createKit({ recipients: [RECEIVER] });
    expect(await pay(kit, '1')).toMatchObject({ status: 'success' });
    await forbid(pay(kit, '1', undefined, STRANGER));
    await forbid(pay(kit, '1', 'USDC', STRANGER));
    await forbid(kit.run('approve', { token: 'USDC', spender: STRANGER, amount: '1' }));
    plan = draft([{ to: STRANGER, value: 1n }]);
    await forbid(kit.run('tryOut', {}));
  });

  it('allows only its contracts', async () => {
    const kit = createKit({ contracts: [chain.asset] });
    expect(await pay(kit, '1', 'USDC')).toMatchObject({ status: 'success' });
    expect(await pay(kit, '1')).toMatchObject({ status: 'success' });
    await forbid(pay(kit, '1', 'WBTC'));
    const approval = { token: token(chain.asset), spender: STRANGER, amountBaseUnits: 1n } as const;
    plan = draft([createApprovalStep(approval)]);
    await forbid(kit.run('tryOut', {}));
  });

  it('allows approvals of its contracts only, by an operation of its own or by an undeclared call', async () => {
    const usdc = token(chain.asset);
    const approve = { token: 'USDC', spender: STRANGER };
    const open = createKit({});
    await open.run('approve', { ...approve, amount: '1' });
    const kit = createKit({ contracts: [chain.asset, RECEIVER] });
    await expect(kit.run('approve', { ...approve, amount: '1' })).rejects.toMatchObject({
      ...forbidden,
      details: { problems: [`the contract ${getAddress(STRANGER)} is not allowed`] },
    });
    plan = draft([encodeApproval({ token: usdc, spender: STRANGER, amountBaseUnits: 1n })]);
    await forbid(kit.run('tryOut', {}));
    expect(await kit.run('approve', { ...approve, amount: '0' })).toMatchObject({ status: 'success' });
    expect(await kit.run('approve', { ...approve, spender: RECEIVER, amount: '1' })).toMatchObject({
      status: 'success',
    });
  });

  it('buys no token and puts none into a pool that neither the token list nor the policy names', async () => {
    const unlisted = token(STRANGER);
    const usdc: Token = { ...token(chain.asset), symbol: 'USDC', isListed: true };
    const one = (of: Token) => ({ token: of, amountBaseUnits: 1n });
    const problem = `the token ${getAddress(STRANGER)} is neither in the token list nor named by the policy`;
    const tryOut = (policy: SpendingPolicy) => createKit(policy).plan('tryOut', {});
    const call = { to: chain.asset, data: '0x18160ddd' } as const;
    const swap = draft([call], { spends: [one(usdc)], receives: [one(unlisted)] });
    const pool = draft([call], { spends: [one(usdc), one(unlisted)] });
    for (plan of [swap, pool]) {
      await expect(tryOut({ recipients: [RECEIVER] })).rejects.toMatchObject({
        ...forbidden,
        details: { problems: [problem] },
      });
      expect(await tryOut({})).toMatchObject({ operation: 'tryOut' });
      expect(await tryOut({ recipients: [], contracts: [chain.asset, STRANGER] })).toMatchObject({
        operation: 'tryOut',
      });
    }
    plan = swap;
    await expect(tryOut({ maxPerDay: { USDC: '50' } })).rejects.toMatchObject({ details: { problems: [problem] } });
    const back = draft([call], { receives: [one(unlisted)] });
    const sale = draft([call], { spends: [one(unlisted)], receives: [one(usdc)] });
    for (plan of [back, sale]) expect(await tryOut({ recipients: [] })).toMatchObject({ operation: 'tryOut' });
  });

  it('buys an unlisted token that a limit names', async () => {
    const { FEE } = chain.contracts.tokens;
    const amountOf = (address: Address) => ({ token: token(address), amountBaseUnits: 1n });
    plan = draft([{ to: chain.asset, data: '0x18160ddd' }], {
      spends: [amountOf(chain.asset)],
      receives: [amountOf(FEE)],
    });
    await forbid(createKit({ maxPerDay: { USDC: '1' } }).plan('tryOut', {}));
    const kit = createKit({ maxPerDay: { USDC: '1', [FEE]: '0' } });
    expect(await kit.plan('tryOut', {})).toMatchObject({ operation: 'tryOut' });
  });

  it('limits one operation, to the last unit, and refuses tokens without a limit', async () => {
    const kit = createKit({ maxPerOperation: { USDC: '1', [NATIVE_TOKEN]: '0.5' } });
    expect(await pay(kit, '1', 'USDC')).toMatchObject({ status: 'success' });
    await forbid(pay(kit, '1.000001', 'USDC'));
    expect(await pay(kit, '0.5')).toMatchObject({ status: 'success' });
    await forbid(pay(kit, '0.500000000000000001'));
    await expect(pay(kit, '0.00000001', 'WBTC')).rejects.toMatchObject({
      message: expect.stringContaining('no limit is set for 0.00000001 WBTC'),
    });
    plan = draft([{ to: RECEIVER, value: parseUnits('0.6', 18) }]);
    await forbid(kit.run('tryOut', {}));
    const usdc = { ...token(chain.asset), symbol: 'USDC' };
    plan = draft([createApprovalStep({ token: usdc, spender: STRANGER, amountBaseUnits: 1_000_001n })]);
    await forbid(kit.run('tryOut', {}));
  });

  it('refuses to give ERC-721 tokens away once amounts are limited, unless it lists recipients', async () => {
    const contractAddress = chain.contracts.nft;
    const tokenId = '721';
    const send = { contractAddress, to: RECEIVER, tokenId };
    const maxPerDay = { USDC: '1' };
    const kit = createKit({ maxPerDay });
    expect(await kit.run('mintERC721', { contractAddress, tokenId })).toMatchObject({ status: 'success' });
    await expect(kit.plan('transferERC721', send)).rejects.toMatchObject({
      ...forbidden,
      message: expect.stringContaining('ERC-721'),
    });
    await forbid(kit.plan('transferERC721', { ...send, to: chain.accounts[0]!.address }));
    const toOthers = createKit({ maxPerDay, recipients: [STRANGER] });
    await forbid(toOthers.plan('transferERC721', send));
    for (const policy of [{ recipients: [RECEIVER] }, { operations: ['transferERC721'] }] satisfies SpendingPolicy[]) {
      expect(await createKit({ maxPerDay, ...policy }).plan('transferERC721', send)).toMatchObject({ spends: [] });
    }
  });

  it('limits a day, even for concurrent operations, and returns what was not spent', async () => {
    const kit = createKit({ maxPerDay: { USDC: '5' } }, 1);
    plan = draft([{ to: chain.asset, data: '0xdeadbeef' }], { spends: [] });
    await expectFailure(kit.run('tryOut', {}), 'REVERTED');
    const settled = await Promise.allSettled(Array.from({ length: 8 }, () => pay(kit, '1', 'USDC')));
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    for (const outcome of settled) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(forbidden);
    }
    await expect(pay(kit, '0.000001', 'USDC')).rejects.toMatchObject({
      message: expect.stringContaining("0 USDC is left of today's 5 USDC"),
    });
  });

  it('has a maximum for the slippage tolerance', async () => {
    const kit = createKit({ maxSlippageBps: 100 });
    const swap = { amount: '1', fromToken: 'USDC', toToken: 'WSEI' };
    expect(await kit.plan('swap', { ...swap, slippageBps: 100 })).toMatchObject({ slippageBps: 100 });
    await forbid(kit.plan('swap', { ...swap, slippageBps: 101 }));
  });

  it('lists everything that it forbids at once', async () => {
    const kit = createKit({ operations: [], recipients: [], maxPerOperation: { USDC: '1' } });
    await expect(pay(kit, '1')).rejects.toMatchObject({
      details: { problems: Array(3).fill(expect.any(String)) },
    });
  });

  it('cannot be changed afterwards', async () => {
    const policy = { operations: ['approve'], maxPerOperation: { USDC: '1' } };
    const kit = createKit(policy);
    policy.operations.push('transfer');
    policy.maxPerOperation.USDC = '1000';
    await expect(pay(kit, '2', 'USDC')).rejects.toMatchObject({
      details: { problems: Array(2).fill(expect.any(String)) },
    });
  });

  it('is refused with every problem when it is invalid', () => {
    const wrong = {
      operations: ['transfer', 'trasnfer', 'getERC20Balance'],
      recipients: ['0x1234'],
      contracts: 'all',
      maxPerOperation: { USDC: '1e3', SEI: '-1', WBTC: 5 },
      maxPerDay: ['USDC'],
      maxSlippageBps: 1.5,
      maxPerWeek: {},
    };
    expect(() => createKit(wrong as unknown as SpendingPolicy)).toThrow(
      expect.objectContaining({
        code: 'INVALID_CONFIGURATION',
        details: { problems: Array(10).fill(expect.any(String)) },
      }),
    );
  });

  it('is refused when its limits are invalid on this chain', async () => {
    const kit = createKit({
      maxPerOperation: { USDC: '0.0000001', NONE: '1', WBTC: '1' },
      maxPerDay: { usdc: '1', [chain.asset]: '2' },
    });
    await expect(pay(kit, '1')).rejects.toMatchObject({
      code: 'INVALID_CONFIGURATION',
      details: { problems: Array(3).fill(expect.any(String)) },
    });
  });

  it('is refused when two of its limits are for one token, or one is of a chain that the kit does not use', async () => {
    const kit = createKit({ maxPerOperation: { USDC: '1', '1328:USDC': '50', '8435:USDC': '1' } });
    await expect(pay(kit, '1')).rejects.toMatchObject({
      code: 'INVALID_CONFIGURATION',
      details: {
        problems: [
          expect.stringMatching(/8435:USDC.* is of another chain than 1328, the only one$/),
          expect.stringMatching(/USDC.* already has a limit, under another name$/),
        ],
      },
    });
  });
});

describe('counting', () => {
  const address = fc.constantFrom(
    '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
    '0x000000000000000000000000000000000000bad1',
  );
  const amount = fc.bigInt({ min: 0n, max: 2n ** 130n });

  it('uses the amount that a plan declares or that its calls can take, whichever is more', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ address, said: amount, approved: amount, value: amount })), (parts) => {
        const { steps } = draft(
          parts.map(({ address: of, approved, value }) => ({
            value,
            approval: { token: token(of), spender: RECEIVER, amountBaseUnits: approved },
          })),
        );
        const spends = parts.map(({ address: of, said }) => ({
          token: token(of.toLowerCase()),
          amountBaseUnits: said,
        }));
        const found = listSpending({ steps, spends }, native);
        const sum = (amounts: bigint[]) => amounts.reduce((total, part) => total + part, 0n);
        const value = sum(parts.map((part) => part.value));
        expect(found.find(({ token: { isNative } }) => isNative)?.amountBaseUnits ?? 0n).toBe(value);
        for (const of of new Set(parts.map((part) => part.address))) {
          const own = parts.filter((part) => part.address === of);
          const [said, approved] = [sum(own.map((part) => part.said)), sum(own.map((part) => part.approved))];
          const entries = found.filter(({ token: { address: other } }) => other.toLowerCase() === of.toLowerCase());
          expect(entries.map(({ amountBaseUnits }) => amountBaseUnits)).toEqual([said > approved ? said : approved]);
        }
      }),
    );
  });

  it('never exceeds a daily limit, in any order of taking and returning, with any spelling', () => {
    const limit = 1_000n;
    fc.assert(
      fc.property(fc.array(fc.record({ amount: fc.bigInt({ min: 0n, max: 700n }), isBack: fc.boolean() })), (tries) => {
        const spending = new DailySpending();
        const own = token('0x4fCF1784B31630811181f670Aea7A7bEF803eaED');
        const limits = [{ token: own, amountBaseUnits: limit }];
        let spent = 0n;
        for (const [index, { amount: amountBaseUnits, isBack }] of tries.entries()) {
          const spelled = index % 2 === 0 ? own : token(own.address.toLowerCase());
          const reserve = () => spending.reserve([{ token: spelled, amountBaseUnits }], limits);
          if (amountBaseUnits > 0n && spent + amountBaseUnits > limit) {
            expect(reserve).toThrow(expect.objectContaining({ code: 'POLICY_VIOLATION' }));
          } else if (isBack) reserve()();
          else {
            reserve();
            spent += amountBaseUnits;
          }
        }
      }),
    );
  });

  it('starts again at midnight UTC, and returns nothing of the day before', () => {
    const spending = new DailySpending();
    const own = token('0x4fCF1784B31630811181f670Aea7A7bEF803eaED');
    const limits = [{ token: own, amountBaseUnits: 10n }];
    const reserve = (time: string) => spending.reserve([{ token: own, amountBaseUnits: 10n }], limits, new Date(time));
    const giveBack = reserve('2026-03-01T23:59:59.999Z');
    expect(() => reserve('2026-03-01T23:59:59.999Z')).toThrow();
    reserve('2026-03-02T00:00:00.000Z');
    giveBack();
    expect(() => reserve('2026-03-02T00:00:01.000Z')).toThrow();
  });
});
