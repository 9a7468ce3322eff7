import { KeyGuesses } from './key-admission.js';

describe('KeyGuesses', () => {
  it('allows an address a number of wrong keys per minute, and again in the next minute', () => {
    const guesses = new KeyGuesses(2);
    expect([guesses.look('192.0.2.1', 'a', 0), guesses.refuse('192.0.2.1', 'a', 0)]).toEqual([0, 0]);
    expect([guesses.look('192.0.2.1', 'b', 1), guesses.refuse('192.0.2.1', 'b', 1)]).toEqual([0, 0]);
    expect(guesses.look('192.0.2.1', 'c', 2)).toBe(59_998);
    expect(guesses.look('192.0.2.1', 'c', 60_000)).toBe(0);
  });

  it('also counts wrong keys that are looked up concurrently', () => {
    const guesses = new KeyGuesses(1);
    expect(['a', 'b'].map((token) => guesses.look('192.0.2.1', token, 0))).toEqual([0, 0]);
    expect(['a', 'b'].map((token) => guesses.refuse('192.0.2.1', token, 0))).toEqual([0, 60_000]);
  });

  it('limits each address separately, however many keys of others were accepted', () => {
    const guesses = new KeyGuesses(1);
    for (let turn = 0; turn < 3; turn++) guesses.admit('good');
    guesses.refuse('192.0.2.1', 'a', 0);
    expect(guesses.look('192.0.2.2', 'new', 0)).toBe(0);
  });

  // Prevents: one client that guesses keys locks out all others behind the same proxy.
  it('exempts a token that was accepted before, until it is refused itself', () => {
    const guesses = new KeyGuesses(1);
    guesses.admit('good');
    guesses.refuse('192.0.2.1', 'a', 0);
    expect(guesses.look('192.0.2.1', 'good', 0)).toBe(0);
    guesses.refuse('192.0.2.1', 'good', 0);
    expect(guesses.look('192.0.2.1', 'good', 0)).toBe(60_000);
  });

  it('remembers a bounded number of the latest tokens', () => {
    const guesses = new KeyGuesses(1, 2);
    for (const token of ['one', 'two', 'one', 'three']) guesses.admit(token);
    guesses.refuse('192.0.2.1', 'a', 0);
    const waits = ['one', 'two', 'three'].map((token) => guesses.look('192.0.2.1', token, 0));
    expect(waits).toEqual([0, 60_000, 0]);
  });

  it('sets no limit at zero', () => {
    const guesses = new KeyGuesses(0);
    for (let turn = 0; turn < 1000; turn += 1) expect(guesses.refuse('192.0.2.1', 'a', 0)).toBe(0);
    expect(guesses.look('192.0.2.1', 'b', 0)).toBe(0);
  });
});
