// The Nest CLI's defaults, with one change: the repository's own libraries are bundled into each
// application, although npm workspaces also link them into node_modules.
const nodeExternals = require('webpack-node-externals');

module.exports = (options) => ({
  ...options,
  devtool: 'source-map',
  externals: [nodeExternals({ importType: 'module', allowlist: [/^@tollgate\//] }), ...options.externals.slice(1)],
});
