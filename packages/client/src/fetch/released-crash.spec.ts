import { listTransfers, startPaidServer } from '../../test/paid-server.js';
import { createPayTask } from '../../test/pay-task.js';
import { runPayingChild } from '../../test/run-paying-child.js';
import { useChain, useFolder, useServer } from '../../test/set-up.js';

describe('a payer killed while a released payment is taken for the corrected request', () => {
  const chain = useChain();
  const server = useServer(() => startPaidServer(chain));
  const directory = useFolder();
  let payerIndex = 0;
  const payer = () => chain.accounts[payerIndex]!;
  const transfers = async () => (await listTransfers(chain, payer().address)).length;
  const pay = (city: string, dieAt: string | null = null) =>
    runPayingChild({
      ...createPayTask(chain, payer(), server.url),
      directory: directory(),
      body: JSON.stringify({ city }),
      dieAt,
    });

  beforeEach(async () => {
    payerIndex += 1;
    server.interfere = [
      (response) => {
        response.writeHead(400, { 'X-Payment-Released': 'true' }).end('a typo');
        return true;
      },
    ];
    expect(await pay('Brn')).toMatchObject({ stdout: 'a typo' });
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
