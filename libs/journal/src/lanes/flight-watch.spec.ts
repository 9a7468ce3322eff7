import { FlightWatch } from './flight-watch.js';

describe('a nonce that was used by none of our transactions', () => {
  const look = (blocks: readonly number[], nonceDoubtMs: number) => {
    const watch = new FlightWatch();
    return blocks.map((number) => watch.suspectForeignNonce('j1/0', number, { nonceDoubtBlocks: 3, nonceDoubtMs }));
  };

  it('counts as foreign once enough blocks have passed', () => {
    expect(look([7, 8, 9, 10], 0)).toEqual([false, false, false, true]);
  });

  it('may still be ours on a fast chain with slow servers, until enough time has passed too', () => {
    expect(look([7, 8, 9, 10, 1_000_000], Infinity)).toEqual(Array(5).fill(false));
  });
});
