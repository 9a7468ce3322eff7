import { Turns } from './turns.js';

describe('turns', () => {
  const never = new AbortController().signal;

  /** Work that ends on request, and a record of what has started. */
  function start(turns: Turns, origins: string[]) {
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const done = origins.map((origin, index) =>
      turns.run(origin, never, () => {
        begun.push(index);
        return new Promise<void>((resolve) => (ends[index] = resolve));
      }),
    );
    const end = async (index: number) => {
      ends[index]!();
      await done[index];
      await Promise.resolve();
    };
    return { begun, end };
  }

  it('come in order, no more at a time than the limit', async () => {
    const { begun, end } = start(new Turns({ total: 2, perOrigin: 2 }), ['a', 'b', 'c', 'd']);
    await Promise.resolve();
    expect(begun).toEqual([0, 1]);
    await end(1);
    expect(begun).toEqual([0, 1, 2]);
    await end(0);
    expect(begun).toEqual([0, 1, 2, 3]);
  });

  it('wait for a server that has reached its limit, while those of other servers pass', async () => {
    const { begun, end } = start(new Turns({ total: 3, perOrigin: 1 }), ['slow', 'slow', 'slow', 'quick']);
    await Promise.resolve();
    expect(begun).toEqual([0, 3]);
    await end(3);
    expect(begun).toEqual([0, 3]);
    await end(0);
    expect(begun).toEqual([0, 3, 1]);
  });

  it('continue after failed work', async () => {
    const turns = new Turns({ total: 1, perOrigin: 1 });
    await expect(turns.run('a', never, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(turns.run('a', never, () => Promise.resolve('next'))).resolves.toBe('next');
  });

  it('are not taken by work that was aborted while waiting', async () => {
    const turns = new Turns({ total: 1, perOrigin: 1 });
    const { end } = start(turns, ['a']);
    const waiting = new AbortController();
    const work = jest.fn(() => Promise.resolve());
    const run = turns.run('a', waiting.signal, work);
    waiting.abort(new Error('enough'));
    await expect(run).rejects.toThrow('enough');
    await expect(turns.run('a', waiting.signal, work)).rejects.toThrow('enough');
    await end(0);
    await turns.run('a', never, () => Promise.resolve());
    expect(work).not.toHaveBeenCalled();
  });
});
