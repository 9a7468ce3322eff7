import { isUnknownBlock, readSendRefusal, type SendRefusal } from './node-words.js';

const REFUSALS: [SendRefusal | null, string[]][] = [
  [
    'known',
    [
      'already known',
      'ALREADY_EXISTS: already known',
      'AlreadyKnown',
      'Known transaction',
      'transaction already imported',
      '[0xab]: already imported',
      'Tx: [0xab] already Imported',
      'Transaction with the same hash was already imported.',
      'existing txn with same hash',
      'tx already exists in cache',
    ],
  ],
  [
    'nonce_used',
    [
      'nonce too low',
      'nonce too low: next nonce 43, tx nonce 41',
      'Transaction nonce is too low. Try incrementing the nonce.',
      'OldNonce',
    ],
  ],
  [
    'in_flight',
    [
      'in-flight transaction limit reached for delegated accounts',
      'gapped-nonce tx from delegated accounts',
      'delegation authority has pending transaction',
      'delegation nonce gap',
    ],
  ],
  [
    'replacement',
    [
      'replacement transaction underpriced',
      'Tx: [0xab] insufficient gas price to replace existing transaction',
      'could not replace existing tx',
      'ReplacementNotAllowed',
    ],
  ],
  [
    'insufficient_funds',
    [
      'insufficient funds for gas * price + value: balance 0, tx cost 21000, overshot 21000',
      'Insufficient funds for gas * price + value',
      'InsufficientFunds, Account balance: 0, cumulative cost: 1',
      'Upfront cost exceeds account balance',
      'transaction overdraws from account',
    ],
  ],
  [
    'fee_below_base',
    [
      'max fee per gas less than block base fee: address 0x00, maxFeePerGas: 1, baseFee: 7',
      'fee cap less than block base fee',
      'max fee per gas less than block base fee',
      'gas price below base fee',
    ],
  ],
  [
    'underpriced',
    [
      'transaction underpriced: gas tip cap 0, minimum needed 1',
      'underpriced',
      'FeeTooLow, MaxFeePerGas too low.',
      'fee too low',
      'transaction feeCap 6 below chain minimum',
      'Gas price below configured minimum gas price',
      'insufficient fee: got 1, required 2',
    ],
  ],
  [
    'invalid',
    [
      'intrinsic gas too low: gas 20000, minimum needed 21000',
      'IntrinsicGas',
      'insufficient gas for floor data gas cost: gas 21000, minimum needed 22000',
      'exceeds block gas limit',
      "transaction's gas limit 30 exceeds block's gas limit 20",
      'Transaction gas limit exceeds block gas limit',
      'Transaction gas limit is greater than the block gas limit, gas_limit: 30, cap: 20',
      'transaction gas limit (30000000) is greater than the cap (16777216)',
      'GasLimitExceeded, Gas limit: 30000000',
      'gas limit is too high',
      'tx gas limit 15021000 exceeds block max gas 10000000: out of gas',
      'transaction gas limit too high (cap: 16777216, tx: 30000000)',
      'oversized data: transaction size 200000, limit 131072',
      'max priority fee per gas higher than max fee per gas',
      'transaction type not supported',
      'fork supporting this transaction type is not activated yet',
      'tx fee (1.20 ether) exceeds the configured cap (1.00 ether)',
      'invalid sender',
      'invalid chain id for signer: have 1 want 1328',
    ],
  ],
  [
    null,
    [
      'txpool is full',
      'nonce too high',
      'future transaction tries to replace pending',
      'internal error',
      'header not found',
      'daily request count exceeded, request rate limited',
      '',
    ],
  ],
];

describe('an answer to a sent transaction', () => {
  it.each(REFUSALS.flatMap(([refusal, messages]) => messages.map((message) => [message, refusal] as const)))(
    '%j says %s',
    (message, refusal) => {
      expect(readSendRefusal(message)).toBe(refusal);
    },
  );
});

describe('an answer about a block', () => {
  it.each([
    'header not found',
    'block not found: 0x20',
    'block 123 not found',
    'Unknown block',
    'missing trie node 0xab (path ) state 0xcd is not available',
    'BlockOutOfRangeError: block height is 5 but requested was 9',
    '0x5b could not be found: header could not be found',
  ])('%j says that the node lacks it', (message) => expect(isUnknownBlock(message)).toBe(true));

  it.each(['execution reverted', 'insufficient funds', ''])('%j says something else', (message) =>
    expect(isUnknownBlock(message)).toBe(false),
  );
});
