import { describePayingTheGateway } from './pay-the-gateway.js';
import { startRig, type Rig } from './rig/start-rig.js';
import { describeUsingTheFacilitator } from './use-the-facilitator.js';

/** All that needs nothing but what is shared: one chain, one verifier, two gateways. */
describe('the published packages', () => {
  let rig: Rig | undefined;
  const useRig = (): Rig => {
    if (!rig) throw new Error('the rig is there in tests and hooks');
    return rig;
  };
  beforeAll(async () => {
    rig = await startRig();
  }, 120_000);
  afterAll(async () => {
    const { hasFailedTest } = globalThis as { hasFailedTest?: boolean };
    if (hasFailedTest && rig)
      process.stderr.write(`\nA test failed. The processes' last lines:\n${rig.stack.logs()}\n`);
    await rig?.stop();
  }, 60_000);

  describePayingTheGateway(useRig);
  describeUsingTheFacilitator(useRig);
});
