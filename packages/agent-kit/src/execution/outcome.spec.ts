import { encodeFunctionData, erc20Abi, numberToHex, parseAbi, parseUnits, type Address } from 'viem';

import { draft, draftPlugin } from '../../../../test/harness/agents/draft-plugin.js';
import { createTrader, type Trader } from '../../../../test/harness/agents/trader.js';
import { readContracts } from '../../../../tools/devnet/contracts/contracts.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { expectFailure, useChain, useProxy } from '../../../client/test/set-up.js';
import { kitOf } from '../../test/create-funded-kit.js';
import { AgentKit } from '../agent-kit.js';
import { createApprovalStep } from '../tokens/create-steps.js';
import { ERC20_FAILURES } from '../tokens/token-failures.js';
import type { PlanDraft, Step } from '../types/plan.js';
import type { Token } from '../types/token.js';

const takerAbi = parseAbi([
  'function take(address token, uint256 amount)',
  'function setClosed(bool isClosed)',
  'function mint(address to, uint256 amount)',
  'error Closed()',
]);

describe('the execution of a plan', () => {
  const chain = useChain({ protocols: true });
  const proxy = useProxy(chain);
  let deployer: Trader;
  let taker: Address;
  let stubborn: Token;
  let plan: PlanDraft;
  let kit: AgentKit;
  let events: [string, unknown][];
  let account = 0;

  beforeAll(async () => {
    deployer = createTrader(chain, 8);
    const { TokenTaker, StubbornToken } = await readContracts();
    const deploy = async ({ abi, bytecode }: typeof TokenTaker) =>
      (await deployer.mined(deployer.deployContract({ abi, bytecode }))).contractAddress!;
    taker = await deploy(TokenTaker);
    const address = await deploy(StubbornToken);
    stubborn = { address, symbol: 'STUB', decimals: 6, isNative: false, isListed: false };
  });

  beforeEach(async () => {
    await setClosed(false);
    account++;
    kit = createKit();
    await deployer.mined(
      deployer.writeContract({
        address: stubborn.address,
        abi: takerAbi,
        functionName: 'mint',
        args: [kit.address, parseUnits('100', 6)],
      }),
    );
    events = [];
    for (const name of ['transactionSubmitted', 'transactionConfirmed', 'transactionFailed', 'lowBalance'] as const) {
      kit.on(name, (event) => events.push([name, event]));
    }
  });

  const createKit = (monitor = { attempts: 1500, intervalMs: 20 }) =>
    kitOf(chain, account % 8, { rpcUrl: proxy.rpcUrl, monitor, plugins: [draftPlugin(() => plan)] });
  const setClosed = (isClosed: boolean) =>
    deployer.mined(
      deployer.writeContract({ address: taker, abi: takerAbi, functionName: 'setClosed', args: [isClosed] }),
    );
  const approval = (amount: string) =>
    createApprovalStep({ token: stubborn, spender: taker, amountBaseUnits: parseUnits(amount, 6) });
  const take = (amount: string): Partial<Step> => ({
    label: `Give ${amount} STUB`,
    to: taker,
    data: encodeFunctionData({
      abi: takerAbi,
      functionName: 'take',
      args: [stubborn.address, parseUnits(amount, 6)],
    }),
    failures: { errors: takerAbi, codes: { Closed: 'INSUFFICIENT_MARGIN' } },
  });
  const allowance = () => chain.allowanceOf(stubborn.address, kit.address, taker);
  const approveByHand = async (amount: string) => {
    const { to, data } = approval(amount);
    plan = draft([{ to, data }]);
    expect(await kit.run('tryOut', {})).toMatchObject({ status: 'success' });
    events = [];
  };
  const names = () => events.map(([name]) => name);
  const labels = (result: { transactions: readonly { label: string }[] }) =>
    result.transactions.map(({ label }) => label.split(' ')[0]);

  /**
   * Closes the taker after this many transactions were sent: after the last simulation, before the next one is mined.
   */
  const closeBefore = (transaction: number) => {
    // Counted by their bytes, because a transaction that is not mined soon is sent again.
    const sent = new Set<unknown>();
    proxy.intercept('eth_sendRawTransaction', async ({ params: [bytes] }, forward) => {
      if (sent.add(bytes).size === transaction) await setClosed(true);
      return { body: await forward() };
    });
  };

  /** A node without the simulation, and a call whose refusal shows only when it is mined. */
  const hideRefusals = (answer: bigint) => {
    const result = numberToHex(answer, { size: 32 });
    proxy.intercept('eth_call', () => ({ body: JSON.stringify({ jsonrpc: '2.0', id: 1, result }) }));
    proxy.intercept('eth_simulateV1', () => ({
      body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}',
    }));
  };

  it('approves exactly, then calls, and leaves no allowance', async () => {
    plan = draft([approval('5'), take('5')], { report: { amount: '5', status: 'failed', result: '0x' } });
    const result = await kit.run('tryOut', {});
    expect(result).toMatchObject({ status: 'success', amount: '5', result: result.transactions[1]!.hash });
    expect(result).not.toHaveProperty('error');
    expect(labels(result)).toEqual(['Approve', 'Give']);
    expect(names()).toEqual([
      'transactionSubmitted',
      'transactionConfirmed',
      'transactionSubmitted',
      'transactionConfirmed',
    ]);
    expect(await allowance()).toBe(0n);
    expect(await kit.monitorTransaction(result.result!)).toEqual({
      status: 'success',
      transactionHash: result.result,
      blockNumber: expect.any(BigInt),
      gasUsed: expect.any(BigInt),
    });
  });

  it('skips an approval whose allowance is already there, and does not revoke it', async () => {
    await approveByHand('9');
    plan = draft([approval('5'), take('5')]);
    expect(labels(await kit.run('tryOut', {}))).toEqual(['Give']);
    expect(await allowance()).toBe(parseUnits('4', 6));
  });

  it('sets a smaller allowance to 0 first if the token demands it', async () => {
    await approveByHand('1');
    plan = draft([approval('5'), take('5')]);
    const result = await kit.run('tryOut', {});
    expect(result.status).toBe('success');
    expect(labels(result)).toEqual(['Take', 'Approve', 'Give']);
    expect(await allowance()).toBe(0n);
  });

  it('revokes an allowance that is not used up', async () => {
    plan = draft([approval('5'), take('3')]);
    const result = await kit.run('tryOut', {});
    expect(labels(result)).toEqual(['Approve', 'Give', 'Take']);
    expect(result).toMatchObject({ status: 'success', result: result.transactions[1]!.hash });
    expect(await allowance()).toBe(0n);
  });

  it('revokes the allowance when the next step cannot be sent, and reports the failure once', async () => {
    plan = draft([approval('5'), take('5')]);
    closeBefore(1);
    const result = await kit.run('tryOut', {});
    expect(result).toMatchObject({ status: 'failed', code: 'INSUFFICIENT_MARGIN', suggestion: 'Add margin.' });
    expect(result.error).toContain('margin');
    // The approval and its revocation succeeded, so no transaction is the failed one.
    expect(result).not.toHaveProperty('result');
    expect(labels(result)).toEqual(['Approve', 'Take']);
    expect(names().filter((name) => name === 'transactionFailed')).toHaveLength(1);
    expect(await allowance()).toBe(0n);
  });

  it('reports a mined transaction that reverted, with its reason, and leaves no nonce gap', async () => {
    plan = draft([approval('5'), take('5')], { report: { status: 'success' } });
    closeBefore(2);
    const result = await kit.run('tryOut', {});
    const failed = result.transactions[1]!;
    expect(result).toMatchObject({ status: 'failed', code: 'INSUFFICIENT_MARGIN', result: failed.hash });
    expect(await kit.monitorTransaction(failed.hash)).toMatchObject({ status: 'failed' });
    expect(events.filter(([name]) => name === 'transactionFailed')).toEqual([
      ['transactionFailed', expect.objectContaining({ code: 'INSUFFICIENT_MARGIN', message: result.error })],
    ]);
    expect(await allowance()).toBe(0n);
    proxy.reset();
    await setClosed(false);
    expect(await kit.run('tryOut', {})).toMatchObject({ status: 'success' });
  });

  it.each([
    ['approval', 1],
    ['call that uses it', 2],
  ])('names the allowance that may stand after a time-out of the %s', async (_, transaction) => {
    plan = draft([approval('5'), take('5')]);
    kit = createKit({ attempts: 20, intervalMs: 50 });
    const sent = new Set<unknown>();
    proxy.intercept('eth_sendRawTransaction', async ({ params: [bytes] }, forward) => {
      if (sent.add(bytes).size === transaction) await callRpc(chain.rpcUrl, 'evm_setAutomine', [false]);
      return { body: await forward() };
    });
    let result: Awaited<ReturnType<AgentKit['run']>>;
    try {
      result = await kit.run('tryOut', {});
    } finally {
      await callRpc(chain.rpcUrl, 'evm_setAutomine', [true]);
    }
    expect(result).toMatchObject({ status: 'timeout', code: 'TIMEOUT' });
    expect(labels(result)).toEqual(['Approve', 'Give'].slice(0, transaction));
    expect(result.warnings).toEqual([
      `The allowance of 5 "STUB" (${stubborn.address}, not in the token list) for ${taker} may stand, at the latest once ${result.result} is mined. Revoke it by approve with the amount 0.`,
    ]);
    proxy.reset();
    await createKit().run('approve', { token: stubborn.address, spender: taker, amount: '0' });
  });

  it('throws, and emits nothing, if nothing was sent', async () => {
    plan = draft([approval('5'), take('5')]);
    const made = await kit.plan('tryOut', {});
    await setClosed(true);
    await expectFailure(kit.execute(made), 'INSUFFICIENT_MARGIN');
    await expectFailure(kit.plan('tryOut', {}), 'INSUFFICIENT_MARGIN');
    expect(events).toEqual([]);
    await setClosed(false);
    expect(await kit.execute(made)).toMatchObject({ status: 'success' });
  });

  it('is not changed by handlers that throw, reject or alter their arguments', async () => {
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    const late: unknown[] = [];
    kit.on('transactionSubmitted', () => {
      throw new Error('thrown');
    });
    kit.on('transactionSubmitted', async () => {
      throw new Error('rejected');
    });
    kit.on('transactionSubmitted', (sent) => Object.assign(sent, { hash: '0x' }));
    kit.on('transactionSubmitted', (sent) => late.push(sent.hash));
    const removed = () => late.push('removed');
    kit.on('transactionConfirmed', removed).off('transactionConfirmed', removed);
    const result = await kit.run('transfer', { amount: '0.1', to: chain.payTo });
    expect(result.status).toBe('success');
    expect(late).toEqual([result.result]);
    const warnings = warn.mock.calls.map(([text]) => String(text));
    warn.mockRestore();
    expect(warnings).toEqual(Array(3).fill(expect.stringMatching(/^A handler of transactionSubmitted threw/)));
    expect(() => kit.on('transactionLost' as 'lowBalance', () => undefined)).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }),
    );
  });

  it('warns below 0.01 of the native token, and not at exactly 0.01', async () => {
    plan = draft([{ data: '0x' }]);
    await callRpc(chain.rpcUrl, 'anvil_setBalance', [kit.address, '0x2386f26fc10000']);
    await kit.plan('tryOut', {});
    expect(events).toEqual([]);
    await callRpc(chain.rpcUrl, 'anvil_setBalance', [kit.address, '0x2386f26fc0ffff']);
    const { warnings, preview } = await kit.plan('tryOut', {});
    expect(events).toEqual([['lowBalance', { account: kit.address, balance: '0.009999999999999999' }]]);
    expect(warnings).toEqual([expect.stringMatching(/^low balance: 0\.009999999999999999 SEI now, about 0\.009/)]);
    expect(preview).toContain(`warning  ${warnings![0]}`);
    await callRpc(chain.rpcUrl, 'anvil_setBalance', [kit.address, '0x0']);
    await expectFailure(kit.plan('tryOut', {}), 'INSUFFICIENT_FUNDS');
    expect(events).toHaveLength(2);
    await callRpc(chain.rpcUrl, 'anvil_setBalance', [kit.address, '0xd3c21bcecceda1000000']);
  });

  it('warns in the preview of a plan that leaves too little for gas, unless it brings in some', async () => {
    await callRpc(chain.rpcUrl, 'anvil_setBalance', [kit.address, '0xde0b6b3a7640000']);
    const value = 10n ** 18n - 5n * 10n ** 15n;
    plan = draft([{ value }]);
    const { preview } = await kit.plan('tryOut', {});
    expect(preview).toMatch(
      /\n {2}warning +low balance: 1 SEI now, about 0\.004\d+ SEI afterwards; gas is paid from it$/,
    );
    expect(events).toEqual([]);
    const native = { address: '0x0', symbol: 'SEI', decimals: 18, isNative: true, isListed: true } as const;
    plan = { ...draft([{ value }]), receives: [{ token: native, amountBaseUnits: 10n ** 17n }] };
    expect((await kit.plan('tryOut', {})).preview).not.toContain('low balance');
    await callRpc(chain.rpcUrl, 'anvil_setBalance', [kit.address, '0xd3c21bcecceda1000000']);
  });

  it('finds the failure that a lending market reports with a success receipt', async () => {
    const market = chain.contracts.lending.markets.WSEI;
    const abi = parseAbi(['function borrow(uint256 amount) returns (uint256)']);
    const returnCodes = { '3:4': { name: 'INSUFFICIENT_LIQUIDITY', code: 'INSUFFICIENT_COLLATERAL' } } as const;
    const step = {
      to: market,
      data: encodeFunctionData({ abi, functionName: 'borrow', args: [10n ** 18n] }),
      failures: { returnCodes },
    };
    plan = draft([step]);
    await expectFailure(kit.plan('tryOut', {}), 'INSUFFICIENT_COLLATERAL', expect.stringContaining('collateral'));
    hideRefusals(0n);
    const result = await kit.run('tryOut', {});
    expect(result).toMatchObject({ status: 'failed', code: 'INSUFFICIENT_COLLATERAL' });
    expect(await chain.client.getTransactionReceipt({ hash: result.result! })).toMatchObject({ status: 'success' });
    expect(names()).toEqual(['transactionSubmitted', 'transactionFailed']);
  });

  it('finds that a token refused by returning false, which is in no receipt', async () => {
    const cUsdc = chain.contracts.lending.markets.USDC;
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [chain.payTo, 1n] });
    plan = draft([{ to: cUsdc, data, failures: ERC20_FAILURES }]);
    await expectFailure(kit.plan('tryOut', {}), 'REVERTED');
    hideRefusals(1n);
    const result = await kit.run('tryOut', {});
    expect(result).toMatchObject({ status: 'failed', code: 'REVERTED' });
    expect(await chain.client.getTransactionReceipt({ hash: result.result! })).toMatchObject({ status: 'success' });
  });
});
