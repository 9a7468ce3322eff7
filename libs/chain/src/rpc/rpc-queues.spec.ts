import { RpcQueues, type BatchClass } from './rpc-queues.js';

describe('RpcQueues', () => {
  const create = (batchesInFlight: number, waiting: Partial<Record<BatchClass, number>>) => {
    const queues = new RpcQueues<{ batchClass: BatchClass }>({ batchSize: 50, batchesInFlight });
    for (const batchClass of ['shared', 'alone', 'apart'] as const) {
      for (let count = 0; count < (waiting[batchClass] ?? 0); count++) queues.add({ batchClass });
    }
    return queues;
  };
  const takeAll = (queues: RpcQueues<{ batchClass: BatchClass }>): [BatchClass, number][] => {
    const taken: [BatchClass, number][] = [];
    for (let next = queues.take(); next !== null; next = queues.take())
      taken.push([next.batchClass, next.batch.length]);
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
    const queues = create(8, { alone: 100, apart: 100 });
    expect(takeAll(queues)).toHaveLength(5);
    queues.add({ batchClass: 'shared' });
    expect(takeAll(queues)).toEqual([['shared', 1]]);
    expect(queues.length).toBe(195);
  });

  it('lets the lanes take turns when there is one slot', () => {
    const queues = create(1, { shared: 200, alone: 3, apart: 3 });
    const turns = Array.from({ length: 6 }, () => {
      const [[batchClass] = ['shared' as BatchClass]] = takeAll(queues);
      queues.free(batchClass);
      return batchClass;
    });
    expect(turns).toEqual(['shared', 'alone', 'apart', 'shared', 'alone', 'apart']);
  });
});
