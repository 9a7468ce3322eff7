import type { RpcBatcher, RpcQuestion } from '../rpc/rpc-batcher.js';
import type { RpcResult } from '../rpc/rpc-endpoint.js';
import { FeeQuotes } from './fee-quotes.js';

const CAPS = { maxFeePerGas: 500n, maxPriorityFeePerGas: 50n, defaultPriorityFeePerGas: 3n };
const UNKNOWN: RpcResult = { kind: 'error', code: -32601, message: 'the method does not exist' };

/** A chain that answers these, in the order of the questions. */
function quotesOf(block: object, tip: string | null, price: string): FeeQuotes {
  const result = (value: unknown): RpcResult => (value === null ? UNKNOWN : { kind: 'result', value });
  const ask = async <T>(question: RpcQuestion<T>): Promise<T> => question.read([block, tip, price].map(result), 1);
  return new FeeQuotes({ batcher: { ask } as unknown as RpcBatcher, caps: CAPS, nowMs: () => 0 });
}

describe('the fees that a relayer offers', () => {
  it.each([
    [
      'twice the base fee and the suggested tip',
      { baseFeePerGas: '0x64' },
      '0x7',
      { maxFeePerGas: 207n, maxPriorityFeePerGas: 7n },
    ],
    [
      'its own tip where none is suggested',
      { baseFeePerGas: '0x64' },
      null,
      { maxFeePerGas: 203n, maxPriorityFeePerGas: 3n },
    ],
    ['nothing above its caps', { baseFeePerGas: '0x1f5' }, '0x0', null],
    ['the gas price without a base fee', {}, null, { maxFeePerGas: 400n, maxPriorityFeePerGas: 400n, isLegacy: true }],
  ])('are %s', async (_, block, tip, fees) => {
    expect(await quotesOf(block, tip, '0x190').read()).toEqual(fees);
  });

  it('are none where the gas price is above the caps', async () => {
    expect(await quotesOf({}, null, '0x1f5').read()).toBeNull();
  });
});
