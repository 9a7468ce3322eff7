import fc from 'fast-check';
import { encodeFunctionData, erc20Abi, keccak256, toHex } from 'viem';

import { anyText } from '../../../../test/harness/any-text.js';
import type { Hex } from '../wire/hex.js';
import {
  appendHashLock,
  createHashLock,
  encodeLockedTransfer,
  findHashLocks,
  LOCK_MARKER,
  lockOf,
  matchesHashLock,
} from './hash-lock.js';

const payTo: Hex = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const transfer = (amount: bigint, to: Hex = payTo): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] });

const bytes = (max: number) => fc.uint8Array({ maxLength: max }).map((value) => toHex(value).slice(2));
const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((value) => toHex(value));

describe('createHashLock', () => {
  it('is the marker and keccak256 of the UTF-8 bytes (known answers)', () => {
    expect(LOCK_MARKER).toBe(toHex('402L'));
    // keccak256 of the empty string and of "abc", from the Keccak team's test vectors.
    expect(createHashLock('')).toBe('0x3430324cc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470');
    expect(createHashLock('abc')).toBe('0x3430324c4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45');
  });

  it('agrees with another implementation of keccak256', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (reference) => {
        expect(createHashLock(reference)).toBe(`${LOCK_MARKER}${keccak256(toHex(reference)).slice(2)}`);
        expect(matchesHashLock(keccak256(toHex(reference)), reference)).toBe(true);
        expect(matchesHashLock(keccak256(toHex(reference)), `${reference}x`)).toBe(false);
      }),
    );
  });
});

describe('encodeLockedTransfer', () => {
  it('is the calldata of the transfer with the lock of the reference appended', () => {
    fc.assert(
      fc.property(address, amount, fc.string(), (to, amountBaseUnits, reference) => {
        const calldata = encodeLockedTransfer({ to, amountBaseUnits, lock: lockOf(reference) });
        expect(calldata).toBe(appendHashLock(transfer(amountBaseUnits, to), reference));
      }),
    );
  });
});

describe('findHashLocks', () => {
  it('finds the lock of a direct transfer', () => {
    const calldata = appendHashLock(transfer(1000n), 'chain-1-a');
    expect(findHashLocks(calldata)).toEqual([
      { to: payTo, amountBaseUnits: 1000n, lock: keccak256(toHex('chain-1-a')) },
    ]);
  });

  it('finds none without the marker, because wallets append their own tags', () => {
    expect(findHashLocks(transfer(1000n))).toEqual([]);
    expect(findHashLocks(`${transfer(1000n)}${'ab'.repeat(36)}`)).toEqual([]);
  });

  it('finds every locked transfer of a batch, in order, at any byte offset and in either letter case', () => {
    const call = fc.tuple(address, amount, fc.string({ minLength: 1 }), bytes(80));
    fc.assert(
      fc.property(bytes(100), fc.array(call, { maxLength: 5 }), (prefix, calls) => {
        const parts = calls.map(([to, value, reference, filler]) => {
          return appendHashLock(transfer(value, to), reference).slice(2) + filler;
        });
        const found = findHashLocks(`0x${prefix}${parts.join('').toUpperCase()}`);
        const expected = calls.map(([to, amountBaseUnits, reference]) => ({
          to,
          amountBaseUnits,
          lock: keccak256(toHex(reference)),
        }));
        expect(found).toEqual(expected);
      }),
    );
  });

  it('finds none if the pattern is truncated', () => {
    const whole = appendHashLock(transfer(1n), 'r');
    for (let length = 2; length < whole.length; length += 1) {
      expect(findHashLocks(whole.slice(0, length) as Hex)).toEqual([]);
    }
  });

  it('does not read across half bytes or from text that is not hexadecimal', () => {
    const locked = appendHashLock(transfer(1n), 'r').slice(2);
    expect(findHashLocks(`0x0${locked}0`)).toEqual([]);
    expect(findHashLocks(`0x${locked.slice(0, -1)}g`)).toEqual([]);
  });

  it('returns an array for any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(findHashLocks(text as Hex)).toEqual([]);
      }),
    );
  });

  it('stays linear on calldata full of selectors', () => {
    expect(findHashLocks(`0x${'a9059cbb'.repeat(250_000)}`)).toEqual([]);
  });
});
