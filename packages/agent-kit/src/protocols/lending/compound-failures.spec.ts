import { encodeErrorResult, parseAbi, type Hex } from 'viem';

import { explainReturnCode, explainRevert } from '../../chain/explain-failure.js';
import { marketFailures } from './compound-failures.js';

const errorsAbi = parseAbi([
  'error Error(string reason)',
  'error MintComptrollerRejection(uint256 errorCode)',
  'error BorrowComptrollerRejection(uint256 errorCode)',
  'error RedeemComptrollerRejection(uint256 errorCode)',
  'error RepayBorrowComptrollerRejection(uint256 errorCode)',
  'error BorrowCashNotAvailable()',
  'error RedeemTransferOutNotPossible()',
  'error BorrowFreshnessCheck()',
]);

const reason = (text: string) => encodeErrorResult({ abi: errorsAbi, errorName: 'Error', args: [text] });

describe('how a Compound v2 market refuses', () => {
  it.each([
    [3n, 4n, 'INSUFFICIENT_COLLATERAL', 'The collateral is too low: "COMPTROLLER_REJECTION: INSUFFICIENT_LIQUIDITY".'],
    [3n, 9n, 'PROTOCOL_FAILED', 'The protocol refused: "COMPTROLLER_REJECTION: MARKET_NOT_LISTED".'],
    [3n, 13n, 'PROTOCOL_FAILED', 'The protocol refused: "COMPTROLLER_REJECTION: PRICE_ERROR".'],
    [3n, undefined, 'PROTOCOL_FAILED', 'The protocol refused: "COMPTROLLER_REJECTION".'],
    [14n, 0n, 'INSUFFICIENT_LIQUIDITY', 'There is too little liquidity: "TOKEN_INSUFFICIENT_CASH".'],
    [13n, 0n, 'INSUFFICIENT_BALANCE', 'The protocol refused: "TOKEN_INSUFFICIENT_BALANCE".'],
    [9n, 2n, 'PROTOCOL_FAILED', 'The protocol refused: "MATH_ERROR".'],
    [16n, 0n, 'PROTOCOL_FAILED', 'The protocol refused: "TOKEN_TRANSFER_OUT_FAILED".'],
    [99n, 0n, 'PROTOCOL_FAILED', 'The protocol refused: "error 99".'],
  ] as const)('by the number %d with the detail %s: %s', (error, detail, code, message) => {
    expect(explainReturnCode(error, marketFailures, detail)).toMatchObject({ code, message });
  });

  it('not at all by 0', () => {
    expect(explainReturnCode(0n, marketFailures, 4n)).toBeNull();
  });

  it.each<[string, Hex, string, string]>([
    ['a pause', reason('borrow is paused'), 'PROTOCOL_FAILED', 'borrow is paused'],
    ['the cap', reason('market borrow cap reached'), 'INSUFFICIENT_LIQUIDITY', 'liquidity'],
    ['an amount of no share', reason('redeemTokens zero'), 'BELOW_MINIMUM', 'minimum amount'],
    ['an unknown reason', reason('never heard of'), 'REVERTED', 'revert'],
  ])('by a reason: %s', (_name, data, code, text) => {
    expect(explainRevert(data, marketFailures)).toMatchObject({ code, message: expect.stringContaining(text) });
  });

  it.each([
    ['BorrowComptrollerRejection', 4n, 'INSUFFICIENT_COLLATERAL'],
    ['RedeemComptrollerRejection', 4n, 'INSUFFICIENT_COLLATERAL'],
    ['BorrowComptrollerRejection', 13n, 'PROTOCOL_FAILED'],
    ['MintComptrollerRejection', 9n, 'PROTOCOL_FAILED'],
    ['RepayBorrowComptrollerRejection', 9n, 'PROTOCOL_FAILED'],
  ] as const)('by an error of later versions: %s(%d)', (errorName, number, code) => {
    const data = encodeErrorResult({ abi: errorsAbi, errorName, args: [number] });
    expect(explainRevert(data, marketFailures)).toMatchObject({ code, message: expect.stringContaining(errorName) });
  });

  it.each([
    ['BorrowCashNotAvailable', 'INSUFFICIENT_LIQUIDITY'],
    ['RedeemTransferOutNotPossible', 'INSUFFICIENT_LIQUIDITY'],
    ['BorrowFreshnessCheck', 'PROTOCOL_FAILED'],
  ] as const)('by an error of later versions: %s', (errorName, code) => {
    expect(explainRevert(encodeErrorResult({ abi: errorsAbi, errorName }), marketFailures)).toMatchObject({ code });
  });
});
