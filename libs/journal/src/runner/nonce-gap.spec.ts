import { waitFor } from '../../../../test/harness/retry.js';
import { useLanes } from '../../test/lane-fixture.js';

describe('a reorganisation that removes the transaction of an ended job', () => {
  const fixture = useLanes();

  const mine = () => fixture.rpc('anvil_mine', ['0x1']);
  const findTrouble = () => fixture.troubles.find((trouble) => String(trouble).includes('nonce 41'));

  /** Ends a job, and removes its transaction from the chain. */
  const loseEndedJob = async (): Promise<void> => {
    fixture.startRunner({ nonceDoubtBlocks: 3 });
    await fixture.waitForState(await fixture.submit(), 'FINAL');
    await fixture.rpc('evm_setAutomine', [false]);
    await fixture.rpc('anvil_reorg', [1, []]);
    await fixture.rpc('anvil_dropAllTransactions');
  };
  const waitForReport = () =>
    waitFor('a report', async () => {
      await mine();
      return findTrouble() !== undefined;
    });

  it('is reported before another job waits for it', async () => {
    await loseEndedJob();
    await waitForReport();
    expect((await fixture.readMined()).map(({ nonce }) => nonce)).toEqual([]);
  });

  it('is reported with the nonce that all later transactions wait for, until another transaction uses it', async () => {
    await loseEndedJob();
    const later = await fixture.submit();
    await fixture.waitForState(later, 'BROADCAST');
    expect(findTrouble()).toBeUndefined();
    await waitForReport();
    await fixture.sendForeign(41);
    await mine();
    await fixture.waitForState(later, 'FINAL');
    expect((await fixture.readMined()).map(({ nonce }) => nonce)).toEqual([41, 42]);
  });
});
