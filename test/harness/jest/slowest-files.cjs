const { relative } = require('node:path');

const SHOWN = 20;

/** For `npm test -- --slowest`: ends the output with the test files that took longest, and their share of the time. */
module.exports = class SlowestFiles {
  onRunComplete(_contexts, { testResults }) {
    const files = testResults
      .map(({ testFilePath, perfStats }) => ({
        path: relative(process.cwd(), testFilePath),
        seconds: (perfStats.end - perfStats.start) / 1000,
      }))
      .sort((one, other) => other.seconds - one.seconds);
    const total = files.reduce((sum, { seconds }) => sum + seconds, 0);
    console.log(`\nThe slowest of ${files.length} test files, which took ${total.toFixed(0)} s one after the other:`);
    for (const { path, seconds } of files.slice(0, SHOWN)) {
      console.log(`${seconds.toFixed(1).padStart(7)} s ${((100 * seconds) / total).toFixed(0).padStart(3)} %  ${path}`);
    }
  }
};
