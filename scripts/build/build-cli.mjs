// Builds the command line to dist/tollgate.js: a small entry, and a chunk for each command that is loaded when it runs.
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { rspack } from '@rspack/core';
import nodeExternals from 'webpack-node-externals';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const dist = join(root, 'dist');

const compiler = rspack({
  context: root,
  mode: 'none',
  target: 'node',
  devtool: 'source-map',
  entry: { tollgate: './tools/cli/main.ts' },
  output: {
    path: dist,
    filename: '[name].js',
    chunkFilename: 'tollgate/[name].js',
    module: true,
    library: { type: 'module' },
    chunkFormat: 'module',
    chunkLoading: 'import',
  },
  // The repository's own libraries are bundled, although npm workspaces also link them into node_modules.
  externals: [
    nodeExternals({ importType: 'module-import', allowlist: [/^@tollgate\//] }),
    ({ request }, done) =>
      builtinModules.includes(request.replace(/^node:/, '')) ? done(null, `module ${request}`) : done(),
  ],
  module: {
    // A URL of the file that runs, not of the source.
    parser: { javascript: { importMeta: false } },
    rules: [
      { test: /\.(lua|sql)$/, type: 'asset/source' },
      {
        test: /\.ts$/,
        type: 'javascript/esm',
        loader: 'builtin:swc-loader',
        options: JSON.parse(readFileSync(join(root, 'scripts', 'swc-options.json'), 'utf8')),
      },
    ],
  },
  resolve: {
    extensions: ['.ts', '.js'],
    extensionAlias: { '.js': ['.ts', '.js'] },
    tsConfig: join(root, 'tsconfig.json'),
  },
  optimization: { nodeEnv: false, chunkIds: 'named' },
  node: { __filename: false, __dirname: false },
  plugins: [
    new rspack.BannerPlugin({ banner: '#!/usr/bin/env node', raw: true, entryOnly: true }),
    new rspack.DefinePlugin({ 'globalThis.tollgateCrashPoint': 'undefined' }),
  ],
});

rmSync(join(dist, 'tollgate'), { recursive: true, force: true });
const stats = await promisify(compiler.run.bind(compiler))();
if (stats.hasErrors()) {
  console.error(stats.toString({ all: false, errors: true }));
  process.exit(1);
}
chmodSync(join(dist, 'tollgate.js'), 0o755);
