import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { transferTokens } from '../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { listTransfers, startPaidServer, type Interference } from '../test/paid-server.js';
import { createPayTask, payTask, type PayTask } from '../test/pay-task.js';
import { runPayingChild } from '../test/run-paying-child.js';
import { useChain, useFolder, useServer } from '../test/set-up.js';
import { FilePaymentStore } from './store/file-payment-store.js';

const chain = useChain();
const server = useServer(() => startPaidServer(chain));
const directory = useFolder();
let payerIndex = 0;

const payer = () => chain.accounts[payerIndex]!;

const createTask = (idempotencyKey: string | null): PayTask => ({
  ...createPayTask(chain, payer(), server.url),
  directory: directory(),
  idempotencyKey,
});

/** Pays in a process of its own; `dieAt`: the event at which it gets SIGKILL. */
const payInChild = (dieAt: string | null = null, idempotencyKey: string | null = null) =>
  runPayingChild({ ...createTask(idempotencyKey), dieAt });

/** Pays in this process, which knows no more of the killed ones than another would; returns the answer. */
async function payHere(): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of payTask(createTask(null))) parts.push(part);
  return Buffer.concat(parts).toString();
}

const storedPayment = async () => {
  const [entry, ...more] = await new FilePaymentStore(directory()).list();
  expect(more).toEqual([]);
  return entry!.payment;
};

beforeEach(async () => {
  payerIndex += 1;
});

describe('a payer killed', () => {
  it('between signing and sending: the next process sends those bytes and redeems', async () => {
    expect(await payInChild('signed')).toMatchObject({ signal: 'SIGKILL' });
    expect(await listTransfers(chain, payer().address)).toEqual([]);
    const { state, transaction } = await storedPayment();
    expect(state).toBe('signed');

    expect(JSON.parse((await payInChild()).stdout)).toEqual({ conditions: 'Clear', number: 1 });
    expect(await listTransfers(chain, payer().address)).toEqual([transaction?.txHash]);
    expect(server.paid()).toHaveLength(1);
  });

  it('between paying and redeeming: the next process redeems without paying', async () => {
    expect(await payInChild('mined')).toMatchObject({ signal: 'SIGKILL' });
    const [txHash] = await listTransfers(chain, payer().address);
    expect(txHash).toBeDefined();
    expect(server.paid()).toEqual([]);

    expect(JSON.parse(await payHere())).toEqual({ conditions: 'Clear', number: 1 });
    expect(await listTransfers(chain, payer().address)).toEqual([txHash]);
    expect(server.seen.filter(({ proof }) => !proof)).toHaveLength(1);
  });

  it('while it reads a long answer: the next process redeems without paying', async () => {
    const long = 'x'.repeat(2 * 1024 * 1024);
    const sendLong: Interference = (response) => {
      response.end(long);
      return true;
    };
    server.interfere = [sendLong, sendLong];
    expect(await payInChild('reading')).toMatchObject({ signal: 'SIGKILL' });
    expect((await storedPayment()).state).toBe('signed');
    expect(await payHere()).toBe(long);
    expect((await storedPayment()).state).toBe('redeemed');
    expect(await listTransfers(chain, payer().address)).toHaveLength(1);
  });

  it('before signing: the next process starts again and pays once', async () => {
    expect(await payInChild('intended')).toMatchObject({ signal: 'SIGKILL' });
    await payHere();
    expect(await listTransfers(chain, payer().address)).toHaveLength(1);
  });

  it('again and again at every step pays once', async () => {
    for (const dieAt of ['intended', 'signed', 'resuming', 'mined', 'mined']) {
      expect(await payInChild(dieAt)).toMatchObject({ signal: 'SIGKILL' });
    }
    expect(JSON.parse(await payHere())).toEqual({ conditions: 'Clear', number: 1 });
    expect(await listTransfers(chain, payer().address)).toHaveLength(1);
  });

  it('or not, and started twice at once under one key, pays once: both get the answer', async () => {
    const results = await Promise.all([payInChild(null, 'order-1'), payInChild(null, 'order-1')]);
    expect(results.map(({ stdout }) => JSON.parse(stdout) as unknown)).toEqual(
      Array(2).fill({ conditions: 'Clear', number: 1 }),
    );
    expect(await listTransfers(chain, payer().address)).toHaveLength(1);
  });

  it('whose nonce another transaction used: no second payment until that is final, then a new one', async () => {
    expect(await payInChild('signed')).toMatchObject({ signal: 'SIGKILL' });
    const { transaction } = await storedPayment();
    await transferTokens(chain, { from: payer().address, to: chain.accounts[0]!.address, amountBaseUnits: 1n });

    const early = await payInChild();
    expect(early.stderr).toContain('in a block that is not final yet');
    expect(await listTransfers(chain, payer().address)).toEqual([]);

    await callRpc(chain.rpcUrl, 'anvil_mine', ['0x100']);
    expect(JSON.parse(await payHere())).toEqual({ conditions: 'Clear', number: 1 });
    const paid = await listTransfers(chain, payer().address);
    expect(paid).toHaveLength(1);
    expect(paid).not.toContain(transaction?.txHash);
  });

  it('leaves files that only their owner can read', async () => {
    await payInChild('signed');
    const names = await readdir(directory());
    expect(names).toHaveLength(2);
    for (const name of names) expect((await stat(join(directory(), name))).mode & 0o077).toBe(0);
  });
});
