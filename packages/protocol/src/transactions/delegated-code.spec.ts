import { isContractCode, isDelegated } from './delegated-code.js';

const DELEGATION = `0xef0100${'Ab'.repeat(20)}` as const;

describe('the code of an account', () => {
  it.each([
    ['no code', undefined, false, false],
    ['empty code', '0x', false, false],
    ['a delegation', DELEGATION, true, false],
    ['a longer text that begins like one', `${DELEGATION}00`, false, true],
    ['a shorter one', '0xef0100', false, true],
    ['a contract', '0x6080', false, true],
  ] as const)('with %s', (_, code, delegated, contract) => {
    expect([isDelegated(code), isContractCode(code)]).toEqual([delegated, contract]);
  });
});
