import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startChain, type Devnet } from '../../../../tools/devnet/chain/chain.js';
import { listTransfers, startPaidServer, type PaidServer } from '../../test/paid-server.js';
import { createPayTask } from '../../test/pay-task.js';
import { runPayingChild } from '../../test/run-paying-child.js';

describe('a payer killed while a released payment is taken for the corrected request', () => {
  let chain: Devnet;
  let server: PaidServer;
  let directory: string;
  let payerIndex = 0;
  const payer = () => chain.accounts[payerIndex]!;
  const transfers = async () => (await listTransfers(chain, payer().address)).length;
  const pay = (city: string, dieAt: string | null = null) =>
    runPayingChild({ ...createPayTask(chain, payer(), server.url), directory, body: JSON.stringify({ city }), dieAt });

  beforeAll(async () => {
    chain = await startChain();
  });
  afterAll(() => chain.stop());
  beforeEach(async () => {
    server = await startPaidServer(chain);
    directory = await mkdtemp(join(tmpdir(), 'payments-'));
    payerIndex += 1;
    server.interfere = [
      (response) => {
        response.writeHead(400, { 'X-Payment-Released': 'true' }).end('a typo');
        return true;
      },
    ];
    expect(await pay('Brn')).toMatchObject({ stdout: 'a typo' });
  });
  afterEach(async () => {
    await server.close();
    await rm(directory, { recursive: true });
  });

  it.each([1, 2, 3])('after write %i: the next process redeems it and pays nothing', async (number) => {
    expect(await pay('Bern', `write ${number}`)).toMatchObject({ signal: 'SIGKILL' });
    expect(JSON.parse((await pay('Bern')).stdout)).toEqual({ conditions: 'Clear', number: 1 });
    expect(await transfers()).toBe(1);
  });

  it('keeps it for that request, also when the former one is sent again first', async () => {
    expect(await pay('Bern', 'write 1')).toMatchObject({ signal: 'SIGKILL' });
    expect(JSON.parse((await pay('Brn')).stdout)).toEqual({ conditions: 'Clear', number: 1 });
    expect(JSON.parse((await pay('Bern')).stdout)).toEqual({ conditions: 'Clear', number: 2 });
    expect(await transfers()).toBe(2);
  });
});
