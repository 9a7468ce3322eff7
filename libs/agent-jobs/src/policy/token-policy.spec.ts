import type { Hex } from '@tollgate/protocol';
import { encodeFunctionData, erc20Abi, numberToHex } from 'viem';

import { nameAllowance, readAllowanceCondition, TOKEN_POLICY, writeAllowanceCondition } from './token-policy.js';

const token: Hex = '0x00000000000000000000000000000000000000aa';
const owner: Hex = '0x00000000000000000000000000000000000000bb';
const spender: Hex = '0x00000000000000000000000000000000000000cc';

describe('the policy for tokens', () => {
  const holds = (amount: bigint, answer: Hex) =>
    TOKEN_POLICY.holds(writeAllowanceCondition({ token, owner, spender, amount }), (to, data) => {
      expect([to, data]).toEqual([
        token,
        encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [owner, spender] }),
      ]);
      return Promise.resolve(answer);
    });
  const word = (value: bigint) => numberToHex(value, { size: 32 });

  it.each([
    [5n, 4n, false],
    [5n, 5n, true],
    [5n, 2n ** 256n - 1n, true],
    [0n, 0n, true],
    [0n, 1n, false],
  ])('takes an approval of %d as made with an allowance of %d: %s', async (amount, allowance, isMade) => {
    expect(await holds(amount, word(allowance))).toBe(isMade);
  });

  it('knows nothing where the answer is no number', async () => {
    expect(await holds(5n, '0x')).toBeNull();
  });

  it('reads what it writes, and nothing else', () => {
    const allowance = { token, owner, spender, amount: 2n ** 255n };
    expect(readAllowanceCondition(JSON.parse(JSON.stringify(writeAllowanceCondition(allowance))))).toEqual(allowance);
    expect(() => readAllowanceCondition({ kind: 'balance' })).toThrow(TypeError);
  });

  it('locks an allowance under one name, in any letter case', () => {
    const other = { token: token.toUpperCase().replace('0X', '0x') as Hex, spender };
    expect(nameAllowance(other)).toBe(nameAllowance({ token, spender }));
    expect(nameAllowance({ token, spender: owner })).not.toBe(nameAllowance({ token, spender }));
  });

  it('says why a plan is refused, with what is left, and which job holds the allowance', () => {
    expect(TOKEN_POLICY.explainRefusal({ reason: 'floors_changed' }).code).toBe('FLOORS_CHANGED');
    expect(TOKEN_POLICY.explainRefusal({ reason: 'locked', holder: 'j1' }).code).toBe('APPROVAL_HELD');
    expect(TOKEN_POLICY.explainRefusal({ reason: 'over_limit', asset: 'native', left: 4n })).toMatchObject({
      code: 'DAILY_LIMIT',
      message: expect.stringContaining('4 base units of native'),
    });
    expect(TOKEN_POLICY.explainLock('j1')).toMatchObject({ code: 'allowance', message: expect.stringContaining('j1') });
  });
});
