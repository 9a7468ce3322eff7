// Where programs may be on this machine.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The paths that programs of these names have if they are on the PATH, in its order. */
export function listOnPath(...names) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.flatMap((folder) => names.map((name) => join(folder, name)));
}

export function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
