import { Registry } from 'prom-client';

import { observeCounts, type Counts } from './observe.js';

describe('counts that are published', () => {
  const read = async (counts: Counts, labelNames?: string[]): Promise<string[]> => {
    const registry = new Registry();
    observeCounts(registry, 'tollgate_things', 'Things.', () => counts, labelNames);
    return (await registry.metrics()).split('\n').filter((line) => line.startsWith('tollgate_'));
  };

  it('have the label event, unless they are given others', async () => {
    expect(await read({ asked: 2, answered: 0 })).toEqual([
      'tollgate_things_total{event="asked"} 2',
      'tollgate_things_total{event="answered"} 0',
    ]);
    expect(await read({ unpaid: 1 }, ['reason'])).toEqual(['tollgate_things_total{reason="unpaid"} 1']);
  });

  it('have a label for each level of counts within counts', async () => {
    const counts = { 1328: { asked: 2, noReply: 1 }, 84532: { asked: 3 }, 1: {} };
    expect(await read(counts, ['chain', 'event'])).toEqual([
      'tollgate_things_total{chain="1328",event="asked"} 2',
      'tollgate_things_total{chain="1328",event="noReply"} 1',
      'tollgate_things_total{chain="84532",event="asked"} 3',
    ]);
  });

  it('are read at each scrape, and values that are gone disappear', async () => {
    const registry = new Registry();
    let counts: Counts = { one: 1 };
    observeCounts(registry, 'tollgate_things', 'Things.', () => counts);
    await registry.metrics();
    counts = { two: 5 };
    expect(await registry.metrics()).toMatch(/total\{event="two"\} 5\n$/);
    expect(await registry.metrics()).not.toContain('one');
  });
});
