import { zeroAddress } from 'viem';

import { callRpc } from '../../../../../tools/devnet/processes/json-rpc.js';
import { expectFailure, useChain, useMade } from '../../../../client/test/set-up.js';
import { kitOf } from '../../../test/create-funded-kit.js';

describe('approve and getERC20Allowance', () => {
  const chain = useChain({ protocols: true });
  const kit = useMade(() => kitOf(chain, 0), beforeAll);
  let spender: string;
  beforeAll(async () => {
    spender = chain.contracts.uniswapV3.router;
  });

  const plan = (input: { token: string; amount: string; spender?: string }) =>
    kit.plan('approve', { spender, ...input });
  const readAllowance = (token: string) => kit.read('getERC20Allowance', { token, spender });

  it('approves exactly 2.5 USDC, changes it, and revokes it with 0', async () => {
    const first = await plan({ token: 'USDC', amount: '2.5' });
    expect(first).toMatchObject({
      summary: `Let ${spender} take exactly 2.5 USDC`,
      spends: [{ amountBaseUnits: 2_500_000n }],
      recipients: [spender],
      warnings: [],
    });
    await kit.execute(first);
    expect(await readAllowance('USDC')).toEqual({
      allowance: '2.5',
      isUnlimited: false,
      spender,
      token: { ticker: 'USDC', address: chain.asset, decimals: 6, isListed: true },
    });

    const second = await plan({ token: 'USDC', amount: '1' });
    expect(second.steps.map(({ label }) => label)).toEqual([
      `Set the approval for ${spender} to 0 first`,
      `Let ${spender} take exactly 1 USDC`,
    ]);
    await kit.execute(second);
    expect(await readAllowance('USDC')).toMatchObject({ allowance: '1' });

    const revocation = await plan({ token: 'USDC', amount: '0' });
    expect(revocation).toMatchObject({
      summary: `Take back the approval of USDC for ${spender}`,
      steps: [{}],
      spends: [],
      recipients: [],
    });
    await kit.execute(revocation);
    expect(await readAllowance('USDC')).toMatchObject({ allowance: '0' });
  });

  it('has no step whose allowance would be revoked afterwards', async () => {
    const { steps } = await plan({ token: 'USDC', amount: '1' });
    expect(steps.filter(({ approval }) => approval)).toEqual([]);
  });

  it.each([
    ['2^256 - 1 base units', '115792089237316195423570985008687907853269984665640564039457584007913129.639935'],
    ['2^96 - 1 base units', '79228162514264337593543.950335'],
    ['more than the supply', '1000000000000'],
  ])('refuses %s: that is unlimited', async (_, amount) => {
    await expectFailure(plan({ token: 'USDC', amount }), 'INVALID_INPUT', expect.stringContaining('never unlimited'));
  });

  it('refuses the native token and the zero address', async () => {
    await expectFailure(plan({ token: '0x0', amount: '1' }), 'INVALID_INPUT');
    await expectFailure(plan({ token: 'USDC', amount: '1', spender: zeroAddress }), 'INVALID_INPUT');
    await expectFailure(readAllowance('SEI'), 'INVALID_INPUT');
  });

  it.each([
    ['has no code', '0x'],
    ['has delegated code', `0xef0100${'ab'.repeat(20)}`],
  ])('warns when the spender is a person, whose account %s', async (_, code) => {
    const { address } = chain.accounts[1]!;
    await callRpc(chain.rpcUrl, 'anvil_setCode', [address, code]);
    await expect(plan({ token: 'USDC', amount: '1', spender: address })).resolves.toMatchObject({
      warnings: [expect.stringContaining('not a contract')],
    });
  });
});
