// The Nest CLI's defaults, with five changes: npm packages and the repository's own libraries are bundled into each
// service, because finding and reading 2,000 files took more than half of its start (docs/decisions/bundled-services.md);
// the packages are one script, so that their compiled code can be kept (scripts/build/cache-packages.mjs);
// private members and class fields stay as written, since the CLI would put each private field of an object in a WeakMap;
// `.lua` and `.sql` files are imported as text; and a built service has no crash points, whatever else its process has loaded. With
// TOLLGATE_CRASH_POINTS it has them, and stands in dist/crash: tests kill such a service at a certain line.
const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const { isBuiltin } = require('node:module');
const { dirname, join, relative, sep } = require('node:path');

const SWC_OPTIONS = require('./scripts/swc-options.json');

/** Modules that find files by their own place: a native addon, the pages of /docs, and a database in WASM. */
const UNBUNDLED = ['msgpackr-extract', 'swagger-ui-dist/absolute-path.js', '@electric-sql/pglite'];
const MAP = { noSources: true, columns: false };
/** Removes what no service uses of the packages, a quarter of the time that a start takes, and keeps names and lines. */
const WITHOUT_UNUSED_CODE = {
  minify: false,
  mangle: false,
  compress: { defaults: false, dead_code: true, unused: true },
  // Then a string of the source takes one byte a character.
  format: { ascii_only: true },
};
const DEPENDENCIES = `${sep}node_modules${sep}`;

module.exports = (
  options,
  { Compilation, DefinePlugin, SourceMapDevToolPlugin, SwcJsMinimizerRspackPlugin, sources },
) => {
  const withCrashPoints = process.env.TOLLGATE_CRASH_POINTS === 'true';
  const main = join(withCrashPoints ? 'crash' : '', options.output.filename);
  const chunkFilename = ({ chunk }) => join(dirname(main), `${chunk.name ?? chunk.id}.js`);
  // Relative to the map, so that a trace has paths, and Node finds the line that an uncaught error was thrown at.
  const moduleFilenameTemplate = join(relative(dirname(join('dist', main)), ''), '[resource-path]');
  const filename = (file) => (file.chunk.name === 'packages' ? chunkFilename(file) : main);
  return {
    ...options,
    // Node 20 parses all maps at the start: the packages have none, being readable as they are, and ours only gives lines.
    devtool: false,
    output: { ...options.output, filename, chunkFilename },
    plugins: [
      ...options.plugins,
      ...(withCrashPoints ? [] : [new DefinePlugin({ 'globalThis.tollgateCrashPoint': 'undefined' })]),
      new SourceMapDevToolPlugin({ ...MAP, moduleFilenameTemplate, filename: '[file].map', test: /main\.js$/ }),
      { apply: (compiler) => makePackagesAScript(compiler, Compilation, sources) },
    ],
    externals: [findExternal],
    // As Node resolves them: one copy of a package that has an ES and a CommonJS build.
    resolve: { ...options.resolve, mainFields: ['main'] },
    node: { __dirname: 'node-module', __filename: 'node-module' },
    module: {
      ...options.module,
      rules: [...options.module.rules.map(withOwnOptions), { test: /\.(lua|sql)$/, type: 'asset/source' }],
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

/** The Nest CLI's rule for TypeScript, with the options by which tests and the command line are compiled. */
function withOwnOptions(rule) {
  const isSwc = ({ loader }) => loader === 'builtin:swc-loader';
  const change = (step) => (isSwc(step) ? { ...step, options: { ...step.options, ...SWC_OPTIONS } } : step);
  return rule.use ? { ...rule, use: rule.use.map(change) } : change(rule);
}

/** How a package that stays outside is loaded; an optional one that is not installed stays outside too. */
function findExternal({ request, dependencyType, context, getResolve }, done) {
  const external = `${dependencyType === 'commonjs' ? 'node-commonjs' : 'module-import'} ${request}`;
  if (isBuiltin(request) || request.startsWith('node:') || UNBUNDLED.includes(request)) return done(null, external);
  const isOptional = context.includes(DEPENDENCIES) && !request.startsWith('.');
  if (!isOptional) return done();
  getResolve()(context, request, (error) => (error ? done(null, external) : done()));
}

/** The packages as a script, packages.cjs, and packages.js, which loads it in their place. */
function makePackagesAScript(compiler, { PROCESS_ASSETS_STAGE_REPORT: stage }, { RawSource }) {
  compiler.hooks.thisCompilation.tap('packages', (compilation) => {
    compilation.hooks.processAssets.tap({ name: 'packages', stage }, (assets) => {
      const name = Object.keys(assets).find((file) => file.endsWith('packages.js'));
      // A test builds a program that has no packages.
      if (name === undefined) return;
      const script = createScript(assets[name].source().toString());
      const hash = createHash('sha256').update(script).digest('hex').slice(0, 16);
      const loader = readFileSync(join(__dirname, 'scripts', 'build', 'load-packages.mjs'), 'utf8');
      compilation.emitAsset(name.replace(/js$/, 'cjs'), new RawSource(script));
      compilation.updateAsset(name, new RawSource(loader.replace('_HASH_', hash)));
    });
  });
}

/** A function of what a module has and a script has not; @bull-board/api finds its pages by `eval("require.resolve(…)")`. */
function createScript(module) {
  const [, modules] = /\nexport const __webpack_modules__ = (\{.*\});\s*$/s.exec(module) ?? [];
  if (modules === undefined)
    throw new Error('rspack writes its chunks in another form: see createScript in rspack.config.cjs');
  const names = ['require', 'importMeta', '__rspack_import_meta_dirname__', '__rspack_import_meta_filename__'];
  return `(function (${names.join(', ')}) { return ${modules.replace(/\bimport\.meta\b/g, 'importMeta')}; })\n`;
}
