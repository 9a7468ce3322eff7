const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * By the end of a file's path. A long file that begins last is waited for alone, and a clean clone knows no times yet.
 */
const LONGEST = [
  'interop/behind-middlewares.spec.ts',
  'interop/packed-packages.spec.ts',
  'interop/interop.spec.ts',
  'faults/signed-payments-crashes.spec.ts',
  'flows/demo-and-dev.spec.ts',
  'faults/agent-jobs-crashes.spec.ts',
  'flows/settings-differ.spec.ts',
  'flows/chat.spec.ts',
  'faults/signed-payments-pending.spec.ts',
  'chat/chat.spec.ts',
  'reader/chain-reader.spec.ts',
  'src/agent-worker-process.spec.ts',
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
