// Builds the crash points as a service is built, into the folder that is named.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

import * as rspack from '@rspack/core';

const configure = createRequire(import.meta.url)(resolve('rspack.config.cjs'));
const options = {
  mode: 'none',
  target: 'node',
  entry: resolve('libs/journal/src/crash-point.ts'),
  output: { path: process.argv[2], filename: 'built.cjs', library: { type: 'commonjs2' } },
  module: { rules: [{ test: /\.ts$/, type: 'javascript/auto', loader: 'builtin:swc-loader' }] },
  plugins: [],
  externals: [],
};
rspack.rspack(configure(options, rspack)).run((error, stats) => {
  if (!error && !stats.hasErrors()) return;
  console.error(error ?? stats.toString());
  process.exitCode = 1;
});
