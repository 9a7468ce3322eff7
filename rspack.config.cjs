// The Nest CLI's defaults, with three changes: npm packages and the repository's own libraries are bundled into each
// service, because finding and reading 2,000 files took more than half of its start (docs/decisions/bundled-services.md);
// `.lua` files are imported as text; and a built service has no crash points, whatever else its process has loaded. With
// TOLLGATE_CRASH_POINTS it has them, and stands in dist/crash: tests kill such a service at a certain line.
const { isBuiltin } = require('node:module');
const { dirname, join, sep } = require('node:path');

/** Modules that find files by their own place: a native addon, and the pages of /docs. */
const UNBUNDLED = ['msgpackr-extract', 'swagger-ui-dist/absolute-path.js'];
const REQUIRE = `import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);`;
const MAP = { namespace: 'tollgate', noSources: true, columns: false };
/** Removes what no service uses of the packages, a quarter of the time that a start takes, and keeps names and lines. */
const WITHOUT_UNUSED_CODE = {
  minify: false,
  mangle: false,
  compress: { defaults: false, dead_code: true, unused: true },
};
const DEPENDENCIES = `${sep}node_modules${sep}`;

module.exports = (options, { BannerPlugin, DefinePlugin, SourceMapDevToolPlugin, SwcJsMinimizerRspackPlugin }) => {
  const withCrashPoints = process.env.TOLLGATE_CRASH_POINTS === 'true';
  const main = join(withCrashPoints ? 'crash' : '', options.output.filename);
  const chunkFilename = ({ chunk }) => join(dirname(main), `${chunk.name ?? chunk.id}.js`);
  const filename = (file) => (file.chunk.name === 'packages' ? chunkFilename(file) : main);
  return {
    ...options,
    // Node 20 parses all maps at the start: the packages have none, being readable as they are, and ours only gives lines.
    devtool: false,
    output: { ...options.output, filename, chunkFilename },
    plugins: [
      ...options.plugins,
      ...(withCrashPoints ? [] : [new DefinePlugin({ 'globalThis.tollgateCrashPoint': 'undefined' })]),
      new SourceMapDevToolPlugin({ ...MAP, filename: '[file].map', test: /main\.js$/ }),
      // @bull-board/api looks for its pages by `eval("require.resolve(…)")`.
      new BannerPlugin({ banner: REQUIRE, raw: true, test: /packages\.js$/ }),
    ],
    externals: [findExternal],
    // As Node resolves them: one copy of a package that has an ES and a CommonJS build.
    resolve: { ...options.resolve, mainFields: ['main'] },
    node: { __dirname: 'node-module', __filename: 'node-module' },
    module: {
      ...options.module,
      rules: [...options.module.rules, { test: /\.lua$/, type: 'asset/source' }],
      parser: { javascript: { importMeta: false } },
    },
    optimization: {
      ...options.optimization,
      ...{ chunkIds: 'named', moduleIds: 'named' },
      minimize: true,
      minimizer: [new SwcJsMinimizerRspackPlugin({ test: /packages\.js$/, minimizerOptions: WITHOUT_UNUSED_CODE })],
      ...{ sideEffects: true, providedExports: true, usedExports: true },
      splitChunks: {
        cacheGroups: {
          default: false,
          defaultVendors: false,
          packages: { name: 'packages', test: /[\\/]node_modules[\\/]/, chunks: 'initial', enforce: true },
        },
      },
    },
  };
};

/** How a package that stays outside is loaded; an optional one that is not installed stays outside too. */
function findExternal({ request, dependencyType, context, getResolve }, done) {
  const external = `${dependencyType === 'commonjs' ? 'node-commonjs' : 'module-import'} ${request}`;
  if (isBuiltin(request) || request.startsWith('node:') || UNBUNDLED.includes(request)) return done(null, external);
  const isOptional = context.includes(DEPENDENCIES) && !request.startsWith('.');
  if (!isOptional) return done();
  getResolve()(context, request, (error) => (error ? done(null, external) : done()));
}
