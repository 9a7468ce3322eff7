// Copies a package's declarations to dist/cjs, where TypeScript takes them for those of CommonJS modules: with `module: node16` it lets no CommonJS file
// import the declarations of an ES module, although `require` loads one since Node 20.19. There is one build of the code, so that a program which
// imports and requires the package has one memory of its nonces. Run by the build of each package, in its folder.
import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** @param folder the package's */
export function writeCjsTypes(folder) {
  const dist = join(folder, 'dist');
  const paths = readdirSync(dist, { recursive: true }).filter(
    (path) => path.endsWith('.d.ts') && !path.startsWith('cjs'),
  );
  for (const path of paths) cpSync(join(dist, path), join(dist, 'cjs', path));
  writeFileSync(join(dist, 'cjs', 'package.json'), '{ "type": "commonjs" }\n');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeCjsTypes(resolve('.'));
