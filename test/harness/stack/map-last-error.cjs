const { readFileSync } = require('node:fs');
const { SourceMap } = require('node:module');
const { dirname, join } = require('node:path');

/**
 * Has an error that ends the process point at the TypeScript source. Node's `--enable-source-maps` reads the map of a bundle
 * at each start, which takes as long as the start itself.
 */
module.exports = (bundle) => {
  process.once('uncaughtExceptionMonitor', (error) => {
    if (!(error instanceof Error) || error.stack === undefined) return;
    const map = new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, 'utf8')));
    error.stack = error.stack.replaceAll(/([^\s(]+):(\d+):(\d+)/g, (place, file, line, column) => {
      if (file !== bundle) return place;
      const { originalSource, originalLine, originalColumn } = map.findEntry(line - 1, column - 1);
      if (originalSource === undefined) return place;
      return `${join(dirname(bundle), originalSource)}:${originalLine + 1}:${originalColumn + 1}`;
    });
  });
};
