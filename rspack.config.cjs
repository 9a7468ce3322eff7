// The Nest CLI's defaults, with three changes: `.lua` files are imported as text; the repository's own libraries are
// bundled into each application, although npm workspaces also link them into node_modules; and a built service has no
// crash points, whatever else its process has loaded.
const nodeExternals = require('webpack-node-externals');

module.exports = (options, { DefinePlugin }) => ({
  ...options,
  devtool: 'source-map',
  module: { ...options.module, rules: [...options.module.rules, { test: /\.lua$/, type: 'asset/source' }] },
  plugins: [...options.plugins, new DefinePlugin({ 'globalThis.tollgateCrashPoint': 'undefined' })],
  externals: [nodeExternals({ importType: 'module', allowlist: [/^@tollgate\//] }), ...options.externals.slice(1)],
});
