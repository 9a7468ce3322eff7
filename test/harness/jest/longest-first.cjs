const { relative } = require('node:path');

const { default: Sequencer } = require('@jest/test-sequencer');

const SECONDS = require('./seconds.json');

/** A long file that begins last is waited for alone. The order is the same on each machine, and `--reversed` turns it round. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const secondsOf = ({ path }) => SECONDS[relative(process.cwd(), path)] ?? 0;
    const byPath = [...tests].sort((one, other) => (one.path < other.path ? -1 : 1));
    const sorted = byPath.sort((one, other) => secondsOf(other) - secondsOf(one));
    return process.env.TEST_ORDER === 'reversed' ? sorted.reverse() : sorted;
  }
};
