import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The repository's root: the nearest folder above the working directory whose package is `tollgate`. */
export function repositoryRoot(): string {
  let folder = process.cwd();
  for (;;) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest) && (JSON.parse(readFileSync(manifest, 'utf8')) as { name?: string }).name === 'tollgate')
      return folder;
    if (dirname(folder) === folder) throw new Error(`${process.cwd()} is not inside the tollgate repository`);
    folder = dirname(folder);
  }
}

/** Where this run keeps its data: TOLLGATE_STATE_DIR, else `.tollgate` in the repository. */
export function stateDirectory(): string {
  return resolve(process.env['TOLLGATE_STATE_DIR'] || join(repositoryRoot(), '.tollgate'));
}
