import { describeComingBack } from './come-back.js';
import { describeNamingPayments } from './name-payments.js';
import { describePayingByJob } from './pay-by-job.js';
import { describePayingByMpp } from './pay-by-mpp.js';
import { describePayingByScheme } from './pay-by-scheme.js';
import { describePayingForTools } from './pay-for-tools.js';
import { describePayingTheGateway } from './pay-the-gateway.js';
import { useRig } from './rig/use-rig.js';
import { describeUsingTheFacilitator } from './use-the-facilitator.js';

/** All tests that need only the shared parts: one chain, one verifier, two gateways. */
describe('the published packages', () => {
  const rig = useRig();
  describePayingTheGateway(rig);
  describeUsingTheFacilitator(rig);
  describePayingByScheme(rig);
  describePayingByMpp(rig);
  describePayingByJob(rig);
  describeNamingPayments(rig);
  describeComingBack(rig);
  describePayingForTools(rig);
});
