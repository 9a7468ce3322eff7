import { useTestBook } from '../../test/use-test-book.js';
import { readUnknownNonces } from './senders.js';

const CHAIN_ID = 1328;
const BILLION = 1_000_000_000;
const address = `0x${'ab'.repeat(20)}`;

describe('the nonces of an account that the book does not have', () => {
  const book = useTestBook({ isKept: true });

  beforeAll(async () => {
    for (const [nonce, state] of [
      [7, 'final'],
      [9, 'reported'],
      [10, 'final'],
      [12, 'removed'],
      [BILLION, 'final'],
    ] as const) {
      await book.database.query(
        `INSERT INTO transactions (chain_id, hash, sender, kind, block_number, nonce, state, at)
          VALUES ($1, $2, $3, 'settled', 1, $4, $5, now())`,
        [CHAIN_ID, `0x${nonce}`, address, nonce, state],
      );
    }
  });

  const read = (nonce: number, count: number, limit = 5) =>
    readUnknownNonces(book.database, CHAIN_ID, { address, nonce, blockNumber: 1 }, { count, limit });

  it('are those from the first one on that no transaction has, and those of removed transactions', async () => {
    expect(await read(6, 14)).toEqual([6, 8, 11, 12, 13]);
    expect(await read(7, 8)).toEqual([]);
    expect(await read(9, 11)).toEqual([]);
    expect(await read(11, 11)).toEqual([]);
  });

  it('are the first few of very many', async () => {
    expect(await read(6, BILLION + 2, 4)).toEqual([6, 8, 11, 12]);
    expect(await read(20, BILLION, 2)).toEqual([20, 21]);
    expect(await read(BILLION - 1, BILLION + 2)).toEqual([BILLION - 1, BILLION + 1]);
  });
});
