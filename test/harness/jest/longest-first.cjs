const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * By the end of a file's path. A long file that begins last is waited for alone, and a clean clone knows no times yet.
 */
const LONGEST = [
  'interop/packed-packages.spec.ts',
  'interop/faults-behind-middlewares.spec.ts',
  'interop/uses-behind-middlewares.spec.ts',
  'interop/interop.spec.ts',
  'faults/signed-payments-crashes.spec.ts',
  'faults/agent-jobs-crashes.spec.ts',
  'flows/demo-and-dev.spec.ts',
  'flows/chat.spec.ts',
  'flows/settings-differ.spec.ts',
  'faults/signed-payments-pending.spec.ts',
  'flows/costly-lookups.spec.ts',
  'faults/signed-payments-fleet.spec.ts',
  'flows/abuse.spec.ts',
  'refund-desk/refund-crashes.spec.ts',
  'chat/chat.spec.ts',
  'refund-desk/refunds.spec.ts',
  'book/lost-data.spec.ts',
  'delivery/payment-events.spec.ts',
  'signing/signer.spec.ts',
  'src/agent-worker-process.spec.ts',
  'reader/chain-reader.spec.ts',
  'execution/parallel-operations.spec.ts',
  'client/src/crash.spec.ts',
  'settlement/turned-away-copies.spec.ts',
  'payments/payment-crash.spec.ts',
];

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const index = LONGEST.findIndex((end) => path.endsWith(end));
      return index === -1 ? LONGEST.length : index;
    };
    return [...super.sort(tests)].sort((one, other) => rank(one) - rank(other));
  }
};
