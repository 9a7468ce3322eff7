import type { JobRecord } from '@tollgate/journal';
import {
  encodeFunctionData,
  erc20Abi,
  formatEther,
  getAddress,
  numberToHex,
  parseAbi,
  parseEther,
  parseUnits,
} from 'viem';

import { RECEIVER } from '../../../../libs/journal/test/lane-fixture.js';
import { refusal, startRpcProxy, type RpcProxy } from '../../../../test/harness/network/rpc-proxy.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { sendTransaction } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { sendAsDeployer } from '../../../../tools/devnet/protocols/deployer.js';
import { setPrice } from '../../../../tools/devnet/protocols/set-price.js';
import { PlanningFixture, type Meddling } from '../../test/planning-fixture.js';

describe('a wallet’s jobs', () => {
  let fixture: PlanningFixture;
  let proxy: RpcProxy;

  beforeAll(async () => {
    fixture = await PlanningFixture.start();
    proxy = await startRpcProxy(fixture.chain.rpcUrl);
  });

  afterAll(async () => {
    await proxy.stop();
    await fixture.stop();
  });

  beforeEach(async () => {
    proxy.reset();
    await fixture.useFundedWallet();
  });

  afterEach(() => fixture.endLanes());

  const contracts = () => fixture.chain.contracts;
  const minedOf = async (jobs: readonly JobRecord[]) => Object.values(await fixture.countMined(jobs));
  const labelsOf = ({ steps }: JobRecord) => steps.map(({ label }) => label.split(' ')[0]);
  /** A hook that runs once. */
  const once = (at: 'before' | 'after', step: number, work: () => Promise<void>): Meddling => {
    let isDone = false;
    return async (when, stepIndex) => {
      if (isDone || when !== at || stepIndex !== step) return;
      isDone = true;
      await work();
    };
  };

  const answerOf = (result: string) => JSON.stringify({ jsonrpc: '2.0', id: 1, result });
  const NO_ALLOWANCE = { body: answerOf(numberToHex(0n, { size: 32 })) };
  const SWAP = { amount: '10', fromToken: 'USDC', toToken: 'WSEI' };
  const SUPPLY = { symbol: 'USDC', amount: '50' };
  const routerAllowance = () => fixture.readAllowance(contracts().tokens.USDC, contracts().uniswapV3.router);
  const marketAllowance = () => fixture.readAllowance(contracts().tokens.USDC, contracts().lending.markets.USDC);
  const pauseSupply = async (isPaused: boolean): Promise<void> => {
    const abi = parseAbi(['function _setMintPaused(address market, bool isPaused) returns (bool)']);
    const { comptroller, markets } = contracts().lending;
    const data = encodeFunctionData({ abi, args: [markets.USDC, isPaused] });
    await sendAsDeployer(fixture.chain.rpcUrl, [{ to: comptroller, data }]);
  };

  it('use the gas of their simulation plus a half', async () => {
    fixture.startLane();
    const job = await fixture.run('transfer', { amount: '1.5', to: RECEIVER });
    const label = `Send 1.5 SEI to ${getAddress(RECEIVER)}`;
    expect(job).toMatchObject({ state: 'FINAL', steps: [{ label, gas: 39_375n }] });
  });

  it('are planned with five requests where calls are batched', async () => {
    fixture.startLane({ chain: { rpcUrls: [proxy.rpcUrl] } });
    await fixture.run('transfer', { amount: '1', to: RECEIVER, token: 'USDC' });
    proxy.reset();
    await fixture.run('transfer', { amount: '1', to: RECEIVER, token: 'USDC' });
    expect(proxy.calls).toHaveLength(5);
  });

  describe('that fail', () => {
    it('before their second step is signed revoke what the first approved', async () => {
      fixture.startLane({ meddle: once('before', 1, () => pauseSupply(true)) });
      const job = await fixture.run('mintLending', SUPPLY);
      await pauseSupply(false);
      expect(job).toMatchObject({ state: 'PLAN_FAILED', failure: { code: 'PROTOCOL_FAILED' } });
      expect(job.failure!.message).toContain('mint is paused');
      expect(labelsOf(job)).toEqual(['Approve', 'Take']);
      expect(await minedOf([job])).toEqual([1, 1]);
      expect(await marketAllowance()).toBe(0n);
    });

    it('when mined report the reason, and revoke what was approved', async () => {
      fixture.startLane({ meddle: once('after', 1, () => pauseSupply(true)) });
      const job = await fixture.run('mintLending', SUPPLY);
      await pauseSupply(false);
      expect(job).toMatchObject({ state: 'REVERTED', failure: { code: 'PROTOCOL_FAILED' } });
      expect(job.failure!.message).toContain('mint is paused');
      expect(labelsOf(job)).toEqual(['Approve', 'Supply', 'Take']);
      expect(await marketAllowance()).toBe(0n);
    });

    it('by a return code in a log are not judged by the receipt’s success', async () => {
      fixture.startLane();
      expect(await fixture.run('mintLending', { symbol: 'USDC', amount: '100' })).toMatchObject({ state: 'FINAL' });
      await fixture.endLanes();
      fixture.startLane({ meddle: once('after', 1, () => setPrice(fixture.chain, 'USDC', '0.01')) });
      const job = await fixture.run('borrowLending', { symbol: 'WSEI', amount: '100' });
      await setPrice(fixture.chain, 'USDC', '1');
      expect(job).toMatchObject({ state: 'REVERTED', failure: { code: 'INSUFFICIENT_COLLATERAL' } });
      const receipt = await fixture.client.getTransactionReceipt({ hash: job.steps[1]!.mined!.hash });
      expect(receipt.status).toBe('success');
    });

    it('perhaps, since the token reported no transfer, wait for an operator', async () => {
      const { EVIL } = contracts().tokens;
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [fixture.address, 5n] });
      await sendTransaction(fixture.chain, { from: fixture.chain.accounts.at(-1)?.address, to: EVIL, data });
      const code = await fixture.client.getCode({ address: EVIL });
      // Returns false to any call.
      const refuse = async () => void (await fixture.lanes.rpc('anvil_setCode', [EVIL, '0x5f5f5260205ff3']));
      fixture.startLane({ meddle: once('after', 0, refuse) });
      const input = { amount: '0.000000000000000005', to: RECEIVER, token: EVIL };
      const job = await fixture.lanes.waitForState(await fixture.submit('transfer', input), 'NEEDS_OPERATOR');
      await fixture.lanes.rpc('anvil_setCode', [EVIL, code]);
      expect(job.failure).toMatchObject({
        code: 'PROTOCOL_FAILED',
        message: expect.stringContaining('the token reported no transfer'),
        suggestion: 'Compare the balances before you send it again.',
      });
    });

    it('because of their input say so, and cost nothing', async () => {
      fixture.startLane();
      const wrong = await fixture.run('swap', { ...SWAP, nonce: 7 });
      expect(wrong).toMatchObject({ state: 'PLAN_FAILED', failure: { code: 'INVALID_INPUT' } });
      const poor = await fixture.run('transfer', { amount: '99.9999999', to: RECEIVER });
      expect(poor).toMatchObject({ state: 'PLAN_FAILED', failure: { code: 'INSUFFICIENT_FUNDS' } });
      expect(await fixture.lanes.readMined()).toEqual([]);
      expect((await fixture.lanes.journal.readLane(fixture.lanes.lane)).paused).toBeNull();
    });
  });

  describe('that the wallet cannot pay for', () => {
    const readFees = async () => {
      const [{ baseFeePerGas }, tip] = await Promise.all([
        fixture.client.getBlock(),
        fixture.client.estimateMaxPriorityFeePerGas(),
      ]);
      return { baseFee: baseFeePerGas!, tip };
    };
    const readLane = () => fixture.lanes.journal.readLane(fixture.lanes.lane);

    it('with the gas limit and the fees of their transaction fail before they take a nonce', async () => {
      const { baseFee, tip } = await readFees();
      // More than the simulation took, less than the 39,375 that are signed.
      const left = 30_000n * ((3n * baseFee) / 2n + tip);
      fixture.startLane();
      const amount = formatEther(parseEther('100') - left);
      const job = await fixture.run('transfer', { amount, to: RECEIVER });
      expect(job).toMatchObject({ state: 'PLAN_FAILED', failure: { code: 'INSUFFICIENT_FUNDS' }, steps: [] });
      expect(await readLane()).toMatchObject({ paused: null, nextNonce: 41 });
    });

    it('because their receiver burns gas do not hold up the others', async () => {
      const burner = '0x000000000000000000000000000000000000b042';
      // Counts down from 100,000, which takes 2.6 million gas.
      await fixture.lanes.rpc('anvil_setCode', [burner, '0x620186a05b600190038060045700']);
      const { baseFee, tip } = await readFees();
      await fixture.lanes.setBalance(1_500_000n * (2n * baseFee + tip));
      fixture.startLane();
      const dear = await fixture.run('transfer', { amount: '0.000000000000000001', to: burner });
      expect(dear).toMatchObject({ state: 'PLAN_FAILED', failure: { code: 'INSUFFICIENT_FUNDS' } });
      const other = await fixture.run('transfer', { amount: '1', to: RECEIVER, token: 'USDC' });
      expect(other).toMatchObject({ state: 'FINAL' });
      expect((await readLane()).paused).toBeNull();
    });
  });

  describe('wait', () => {
    it('for a chain that does not answer', async () => {
      proxy.intercept('*', () => 'broken');
      fixture.startLane({ chain: { rpcUrls: [proxy.rpcUrl] } });
      const jobId = await fixture.submit('transfer', { amount: '1', to: RECEIVER });
      await waitFor('planning fails', () => fixture.lanes.troubles.length > 9);
      expect(fixture.lanes.troubles[0]).toMatchObject({ code: 'NETWORK_ERROR' });
      expect((await fixture.lanes.readJob(jobId)).state).toBe('PLANNED');
      proxy.reset();
      await fixture.lanes.waitForState(jobId, 'FINAL');
    });

    it('for a node that reports a possible amount of gas, and take no nonce before', async () => {
      proxy.intercept('eth_simulateV1', () => refusal(-32601, 'the method eth_simulateV1 does not exist'));
      const huge = { body: JSON.stringify({ jsonrpc: '2.0', id: 1, result: `0x${'f'.repeat(70)}` }) };
      proxy.intercept('eth_estimateGas', () => huge);
      fixture.startLane({ chain: { rpcUrls: [proxy.rpcUrl], rpcBatchSize: 1 } });
      const jobId = await fixture.submit('transfer', { amount: '1', to: RECEIVER });
      await waitFor('planning fails', () => fixture.lanes.troubles.length > 3);
      expect(fixture.lanes.troubles[0]).toMatchObject({ code: 'NETWORK_ERROR' });
      expect(await fixture.lanes.readJob(jobId)).toMatchObject({ state: 'PLANNED', steps: [] });
      proxy.reset();
      await fixture.lanes.waitForState(jobId, 'FINAL');
    });

    it('for a chain only while no RPC server answers', async () => {
      proxy.intercept('*', () => 'broken');
      fixture.startLane({ chain: { rpcUrls: [proxy.rpcUrl, fixture.chain.rpcUrl] } });
      expect(await fixture.run('swap', SWAP)).toMatchObject({ state: 'FINAL' });
      expect(fixture.lanes.troubles).toEqual([]);
    });

    it('for a wallet that cannot pay for gas', async () => {
      await fixture.lanes.setBalance(1000n);
      fixture.startLane();
      const jobIds = [
        await fixture.submit('transfer', { amount: '1', to: RECEIVER, token: 'USDC' }),
        await fixture.submit('transfer', { amount: '1', to: RECEIVER }),
      ];
      const readPause = async () => (await fixture.lanes.journal.readLane(fixture.lanes.lane)).paused;
      await waitFor('the lane is paused', async () => (await readPause())?.code === 'INSUFFICIENT_FUNDS');
      await fixture.lanes.setBalance(parseEther('10'));
      const jobs = await fixture.lanes.waitForEnds(jobIds);
      expect(jobs.map(({ state }) => state)).toEqual(['FINAL', 'FINAL']);
    });
  });

  it('do not repeat a mined step that the chain does not show', async () => {
    proxy.intercept('eth_call', async ({ params: [call] }, forward) => {
      const isAllowance = (call as { data?: string }).data?.startsWith('0xdd62ed3e');
      return isAllowance ? NO_ALLOWANCE : { body: await forward() };
    });
    fixture.startLane({ chain: { rpcUrls: [proxy.rpcUrl], rpcBatchSize: 1 } });
    const job = await fixture.run('swap', SWAP);
    expect(job).toMatchObject({ state: 'PLAN_FAILED', failure: { code: 'INTERNAL_ERROR' } });
    expect(job.steps.filter(({ mined }) => mined).map(({ label }) => label)).toEqual([
      expect.stringContaining('Approve exactly 10 USDC'),
    ]);
    expect(await fixture.lanes.readMined()).toHaveLength(1);
  });

  it('that are cancelled revoke what was approved, although a node that is behind shows no allowance', async () => {
    await fixture.lanes.rpc('evm_setAutomine', [false]);
    const jobId = await fixture.submit('swap', SWAP);
    fixture.startLane();
    await fixture.lanes.waitForState(jobId, 'BROADCAST');
    await fixture.endLanes();
    expect(await fixture.lanes.journal.cancel(jobId)).toMatchObject({ outcome: 'cancelling' });
    const before = numberToHex(await fixture.client.getBlockNumber());
    await fixture.lanes.rpc('evm_mine');
    await fixture.lanes.rpc('evm_setAutomine', [true]);

    // Behind the URL a node that is behind answers at first every request, then only those for the allowance.
    let numbers = 0;
    proxy.intercept('eth_blockNumber', async (_, forward) => ({
      body: ++numbers > 2 ? await forward() : answerOf(before),
    }));
    let allowances = 0;
    proxy.intercept('eth_call', async ({ params: [call, block] }, forward) => {
      const isAllowance = (call as { data?: string }).data?.startsWith('0xdd62ed3e');
      if (!isAllowance || ++allowances > 4) return { body: await forward() };
      return block === 'latest' ? NO_ALLOWANCE : refusal(-32000, 'header not found');
    });
    fixture.startLane({ chain: { rpcUrls: [proxy.rpcUrl], rpcBatchSize: 1 } });
    const job = await fixture.lanes.waitForState(jobId, 'CANCELLED');
    expect(labelsOf(job)).toEqual(['Approve', 'Take']);
    expect(await routerAllowance()).toBe(0n);
  });

  describe('that need the same allowance', () => {
    it('take turns, and each has its own', async () => {
      fixture.startLane();
      const usdc = await fixture.readBalance(contracts().tokens.USDC);
      const jobIds = await Promise.all([1, 2, 3].map(() => fixture.submit('swap', SWAP)));
      const jobs = await fixture.lanes.waitForEnds(jobIds);
      expect(jobs.map(({ state, steps }) => [state, steps.length])).toEqual(Array(3).fill(['FINAL', 2]));
      expect(usdc - (await fixture.readBalance(contracts().tokens.USDC))).toBe(parseUnits('30', 6));
      expect(await routerAllowance()).toBe(0n);
    });

    it('use an allowance that is already there for one of them, and approve the rest themselves', async () => {
      fixture.startLane();
      const spender = contracts().uniswapV3.router;
      expect(await fixture.run('approve', { token: 'USDC', spender, amount: '10' })).toMatchObject({ state: 'FINAL' });
      const jobIds = await Promise.all([1, 2].map(() => fixture.submit('swap', SWAP)));
      const jobs = await fixture.lanes.waitForEnds(jobIds);
      expect(jobs.map(({ state }) => state)).toEqual(['FINAL', 'FINAL']);
      expect(jobs.map(({ steps }) => steps.length).sort()).toEqual([1, 2]);
      expect(await routerAllowance()).toBe(0n);
    });
  });
});
