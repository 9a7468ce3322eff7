import { joinSendAnswers, readSendAnswer } from './read-send-answer.js';

const HASH = `0x${'ab'.repeat(32)}` as const;
const error = (message: string) => readSendAnswer({ kind: 'error', code: -32000, message }, HASH);

describe('an answer to a sent transaction', () => {
  it.each([
    'already known',
    'ALREADY_EXISTS: already known',
    'AlreadyKnown',
    'Known transaction',
    'transaction already imported',
    'Transaction with the same hash was already imported.',
    'tx already exists in cache',
  ])('%s: the server has it', (message) => expect(error(message)).toBe('accepted'));

  it.each([
    'nonce too low',
    'nonce too low: next nonce 43, tx nonce 41',
    'Transaction nonce is too low. Try incrementing the nonce.',
    'OldNonce',
  ])('%s: the nonce is used', (message) => expect(error(message)).toBe('nonce_used'));

  it.each([
    'insufficient funds for gas * price + value: balance 0, tx cost 21000, overshot 21000',
    'Insufficient funds for gas * price + value',
    'InsufficientFunds, Account balance: 0, cumulative cost: 1',
    'Upfront cost exceeds account balance',
  ])('%s: the wallet is empty', (message) => expect(error(message)).toBe('insufficient_funds'));

  it.each([
    'replacement transaction underpriced',
    'transaction underpriced: gas tip cap 0, minimum needed 1',
    'max fee per gas less than block base fee: address 0x00, maxFeePerGas: 1, baseFee: 7',
    'FeeTooLow, MaxFeePerGas too low.',
    'Gas price below configured minimum gas price',
    'insufficient fee: got 1, required 2',
  ])('%s: higher fees are needed', (message) => expect(error(message)).toBe('underpriced'));

  it.each([
    'intrinsic gas too low: gas 20000, minimum needed 21000',
    'insufficient gas for floor data gas cost: gas 21000, minimum needed 22000',
    'exceeds block gas limit',
    'Transaction gas limit exceeds block gas limit',
    'GasLimitExceeded, Gas limit: 30000000',
    'tx gas limit 15021000 exceeds block max gas 10000000: out of gas',
    'transaction gas limit too high (cap: 16777216, tx: 30000000)',
    'oversized data: transaction size 200000, limit 131072',
    'max priority fee per gas higher than max fee per gas',
    'transaction type not supported',
    'tx fee (1.20 ether) exceeds the configured cap (1.00 ether)',
    'invalid sender',
    'invalid chain id for signer: have 1 want 1328',
  ])('%s: refused for good', (message) => expect(error(message)).toBe('refused'));

  it.each([
    'txpool is full',
    'nonce too high',
    'future transaction tries to replace pending',
    'internal error',
    'header not found',
    'daily request count exceeded, request rate limited',
    '',
  ])('%s: unknown', (message) => expect(error(message)).toBe('unknown'));

  it('counts only with the hash of the sent bytes', () => {
    expect(readSendAnswer({ kind: 'result', value: HASH }, HASH)).toBe('accepted');
    expect(readSendAnswer({ kind: 'result', value: HASH.toUpperCase().replace('0X', '0x') }, HASH)).toBe('accepted');
    expect(readSendAnswer({ kind: 'result', value: `0x${'00'.repeat(32)}` }, HASH)).toBe('unknown');
    expect(readSendAnswer({ kind: 'result', value: null }, HASH)).toBe('unknown');
    expect(readSendAnswer({ kind: 'unanswered', why: 'status 429' }, HASH)).toBe('unknown');
  });
});

describe('the answers of several servers', () => {
  it('combine to success where one has the bytes, and to a refusal only where all refuse', () => {
    expect(joinSendAnswers(['refused', 'unknown', 'accepted'])).toBe('accepted');
    expect(joinSendAnswers(['refused', 'unknown'])).toBe('unknown');
    expect(joinSendAnswers(['refused', 'refused'])).toBe('refused');
    expect(joinSendAnswers(['unknown', 'insufficient_funds'])).toBe('insufficient_funds');
    expect(joinSendAnswers(['underpriced', 'nonce_used'])).toBe('nonce_used');
  });
});
