import { KeyGuesses } from './key-guesses.js';

describe('KeyGuesses', () => {
  it('lets an address guess so often a minute, and again in the next one', () => {
    const guesses = new KeyGuesses(2);
    expect([guesses.look('192.0.2.1', 'a', 0), guesses.refuse('192.0.2.1', 'a', 0)]).toEqual([0, 0]);
    expect([guesses.look('192.0.2.1', 'b', 1), guesses.refuse('192.0.2.1', 'b', 1)]).toEqual([0, 0]);
    expect(guesses.look('192.0.2.1', 'c', 2)).toBe(59_998);
    expect(guesses.look('192.0.2.1', 'c', 60_000)).toBe(0);
  });

  it('counts what was looked up at once too', () => {
    const guesses = new KeyGuesses(1);
    expect(['a', 'b'].map((token) => guesses.look('192.0.2.1', token, 0))).toEqual([0, 0]);
    expect(['a', 'b'].map((token) => guesses.refuse('192.0.2.1', token, 0))).toEqual([0, 60_000]);
  });

  it('is about one address, however many keys of others were let in', () => {
    const guesses = new KeyGuesses(1);
    for (let turn = 0; turn < 3; turn++) guesses.admit('good');
    guesses.refuse('192.0.2.1', 'a', 0);
    expect(guesses.look('192.0.2.2', 'new', 0)).toBe(0);
  });

  // Prevents: behind one proxy, one client that guesses locks out all others.
  it('does not keep out a token that was let in before, until it is refused itself', () => {
    const guesses = new KeyGuesses(1);
    guesses.admit('good');
    guesses.refuse('192.0.2.1', 'a', 0);
    expect(guesses.look('192.0.2.1', 'good', 0)).toBe(0);
    guesses.refuse('192.0.2.1', 'good', 0);
    expect(guesses.look('192.0.2.1', 'good', 0)).toBe(60_000);
  });

  it('remembers a bounded number of tokens, the latest', () => {
    const guesses = new KeyGuesses(1, 2);
    for (const token of ['one', 'two', 'one', 'three']) guesses.admit(token);
    guesses.refuse('192.0.2.1', 'a', 0);
    const waits = ['one', 'two', 'three'].map((token) => guesses.look('192.0.2.1', token, 0));
    expect(waits).toEqual([0, 60_000, 0]);
  });

  it('is off at zero', () => {
    const guesses = new KeyGuesses(0);
    for (let turn = 0; turn < 1000; turn += 1) expect(guesses.refuse('192.0.2.1', 'a', 0)).toBe(0);
    expect(guesses.look('192.0.2.1', 'b', 0)).toBe(0);
  });
});
