import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { build } from 'esbuild';

import { listTransfers, startPaidServer } from '../../test/paid-server.js';
import { createPayTask, type PayingTask } from '../../test/pay-task.js';
import { runPayingChild } from '../../test/run-paying-child.js';
import { useChain, useFolder, useServer } from '../../test/set-up.js';
import { findStateDirectory, openPaymentStore } from './open-payment-store.js';
import { MemoryPaymentStore } from './payment-store.js';

describe('the store that a client has by default', () => {
  const chain = useChain();
  const server = useServer(() => startPaidServer(chain));
  const directory = useFolder();
  let payerIndex = 0;
  const payer = () => chain.accounts[payerIndex]!;
  const transfers = () => listTransfers(chain, payer().address);
  /** Pays as a user whose state is in the directory. */
  const pay = (change: Partial<PayingTask> = {}) =>
    runPayingChild(
      { ...createPayTask(chain, payer(), server.url), dieAt: null, ...change },
      { TOLLGATE_STATE_DIR: '', XDG_STATE_HOME: directory() },
    );
  const answer = { conditions: 'Clear', number: 1 };

  beforeEach(async () => {
    payerIndex += 1;
  });

  it('survives a kill, below the state folder of the user', async () => {
    for (const dieAt of ['signed', 'mined']) expect(await pay({ dieAt })).toMatchObject({ signal: 'SIGKILL' });
    expect(JSON.parse((await pay()).stdout)).toEqual(answer);
    expect(await transfers()).toHaveLength(1);
  });

  it('is a folder of the payer and its chain, which no other user can read', async () => {
    await pay({ dieAt: 'signed' });
    const payments = join(directory(), 'tollgate', 'payments');
    const own = join(payments, `${chain.chainId}-${payer().address.toLowerCase()}`);
    for (const folder of [payments, own]) expect((await stat(folder)).mode & 0o077).toBe(0);
    payerIndex += 1;
    expect(JSON.parse((await pay()).stdout)).toEqual(answer);
    expect([(await transfers()).length, (await readdir(payments)).length]).toEqual([1, 2]);
  });

  it('is memory where there are no files, and the client says so once', async () => {
    const { stdout, stderr } = await pay({ hidesFiles: true });
    expect(JSON.parse(stdout)).toEqual(answer);
    expect(stderr).toMatch(/^Tollgate keeps payments in memory here, [^\n]*\n$/);
    expect(await readdir(directory())).toEqual([]);
  });

  it('is memory where the options say so, one for all calls of a payer in this process', async () => {
    const [one, other] = [1, 2].map((chainId) => openPaymentStore('memory', { address: payer().address, chainId }));
    expect(one).toBeInstanceOf(MemoryPaymentStore);
    expect(openPaymentStore('memory', { address: payer().address, chainId: 1 })).toBe(one);
    expect(other).not.toBe(one);
  });

  // Prevents: a bundler for browsers stops at a module of Node.
  it('needs no module of Node where the client is bundled for a browser', async () => {
    const entryPoints = ['packages/client/src/index.ts'];
    const { errors } = await build({ entryPoints, bundle: true, platform: 'browser', write: false });
    expect(errors).toEqual([]);
  });

  it('is below TOLLGATE_STATE_DIR where that is set', () => {
    const env = { XDG_STATE_HOME: '/state', TOLLGATE_STATE_DIR: '/own' };
    expect([findStateDirectory(env), findStateDirectory({ ...env, TOLLGATE_STATE_DIR: '' })]).toEqual([
      '/own',
      process.platform === 'linux' ? '/state/tollgate' : expect.stringMatching(/tollgate$/),
    ]);
  });
});
