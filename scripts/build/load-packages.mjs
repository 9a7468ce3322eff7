// A service's packages.js: runs packages.cjs with the compiled code that the build has kept, so that V8 need not compile ten
// megabytes at each start. V8 rejects code of another version or of other flags; then the start takes longer.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { constants, Script } from 'node:vm';

const { dirname, url } = import.meta;
const filename = join(dirname, 'packages.cjs');
/** For these packages and no others: V8 compares only the length of a source. */
export const cachePath = join(dirname, 'packages-_HASH_.cache');
export const script = new Script(readFileSync(filename, 'latin1'), {
  filename,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  ...(existsSync(cachePath) ? { cachedData: readFileSync(cachePath) } : {}),
});
export const __rspack_esm_id = 'packages';
export const __rspack_esm_ids = ['packages'];
export const __webpack_modules__ = script.runInThisContext()(createRequire(url), import.meta, dirname, filename);
