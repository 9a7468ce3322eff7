const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const { join, relative } = require('node:path');

const FILE = join(__dirname, 'seconds.json');
/** The sequence of files that take less makes no difference. */
const LEAST_SECONDS = 5;

/** For `npm test -- --record-times`: keeps how long each file of this run took, for the sequence of the next. */
module.exports = class RecordSeconds {
  onRunComplete(_contexts, { testResults }) {
    const seconds = new Map(Object.entries(JSON.parse(readFileSync(FILE, 'utf8'))));
    for (const { testFilePath, perfStats } of testResults)
      seconds.set(relative(process.cwd(), testFilePath), Math.round((perfStats.end - perfStats.start) / 1000));
    const kept = [...seconds].filter(([path, took]) => took >= LEAST_SECONDS && existsSync(path)).sort();
    writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
  }
};
