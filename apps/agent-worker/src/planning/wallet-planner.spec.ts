import { getAddress, parseEther, parseUnits } from 'viem';

import { RECEIVER } from '../../../../libs/transactions/test/lane-fixture.js';
import { PlanningFixture } from '../../test/planning-fixture.js';

describe('a wallet’s jobs', () => {
  let fixture: PlanningFixture;

  beforeAll(async () => {
    fixture = await PlanningFixture.start();
  });

  afterAll(() => fixture.stop());

  beforeEach(() => fixture.useFundedWallet());

  afterEach(() => fixture.endLanes());

  it('transfer the native token', async () => {
    const before = await fixture.client.getBalance({ address: RECEIVER });
    fixture.startLane();
    const job = await fixture.run('transfer', { amount: '1.5', to: RECEIVER });
    expect(job).toMatchObject({
      state: 'FINAL',
      steps: [{ label: `Send 1.5 SEI to ${getAddress(RECEIVER)}`, gas: 39_375n }],
    });
    expect((await fixture.client.getBalance({ address: RECEIVER })) - before).toBe(parseEther('1.5'));
    expect(await fixture.countMined([job])).toEqual({ [job.steps[0]!.label]: 1 });
  });

  it('approve exactly what a swap takes, and then swap', async () => {
    const { tokens, uniswapV3 } = fixture.chain.contracts;
    const [usdc, wsei] = await Promise.all([fixture.readBalance(tokens.USDC), fixture.readBalance(tokens.WSEI)]);
    fixture.startLane();
    const job = await fixture.run('swap', { amount: '10', fromToken: 'USDC', toToken: 'WSEI' });
    expect(job).toMatchObject({ state: 'FINAL', failure: null });
    expect(Object.values(await fixture.countMined([job]))).toEqual([1, 1]);
    expect(usdc - (await fixture.readBalance(tokens.USDC))).toBe(parseUnits('10', 6));
    expect(await fixture.readBalance(tokens.WSEI)).toBeGreaterThan(wsei);
    expect(await fixture.readAllowance(tokens.USDC, uniswapV3.router)).toBe(0n);
  });
});
