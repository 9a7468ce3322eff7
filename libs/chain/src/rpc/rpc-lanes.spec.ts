import { RpcLanes, type Lane } from './rpc-lanes.js';

describe('RpcLanes', () => {
  const create = (batchesInFlight: number, waiting: Partial<Record<Lane, number>>) => {
    const lanes = new RpcLanes<{ lane: Lane }>({ batchSize: 50, batchesInFlight });
    for (const lane of ['shared', 'alone', 'apart'] as const) {
      for (let count = 0; count < (waiting[lane] ?? 0); count++) lanes.add({ lane });
    }
    return lanes;
  };
  const takeAll = (lanes: RpcLanes<{ lane: Lane }>): [Lane, number][] => {
    const taken: [Lane, number][] = [];
    for (let next = lanes.take(); next !== null; next = lanes.take()) taken.push([next.lane, next.batch.length]);
    return taken;
  };

  it('batches the shared questions, and sends the others one by one', () => {
    expect(takeAll(create(8, { shared: 60, alone: 1, apart: 1 }))).toEqual([
      ['shared', 50],
      ['alone', 1],
      ['apart', 1],
      ['shared', 10],
    ]);
  });

  it('leaves slots to the shared questions, however many others wait', () => {
    const lanes = create(8, { alone: 100, apart: 100 });
    expect(takeAll(lanes)).toHaveLength(5);
    lanes.add({ lane: 'shared' });
    expect(takeAll(lanes)).toEqual([['shared', 1]]);
    expect(lanes.length).toBe(195);
  });

  it('lets the lanes take turns when there is one slot', () => {
    const lanes = create(1, { shared: 200, alone: 3, apart: 3 });
    const turns = Array.from({ length: 6 }, () => {
      const [[lane] = ['shared' as Lane]] = takeAll(lanes);
      lanes.free(lane);
      return lane;
    });
    expect(turns).toEqual(['shared', 'alone', 'apart', 'shared', 'alone', 'apart']);
  });
});
