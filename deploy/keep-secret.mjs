import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

const SERVICE_USER = 1000;

/**
 * The secret in a file, which is created unless it is there. A crash leaves a whole file or none. Ends the process where
 * the file is empty.
 */
export function keepSecret(file, create, mode = 0o400) {
  if (existsSync(file)) {
    const text = readFileSync(file, 'utf8');
    if (text !== '') return { text, isNew: false };
    console.error(`${file} is empty: its creation was cut off. Remove it, and run this again, which creates it anew.`);
    process.exit(1);
  }
  const text = create();
  writeSecret(file, text, mode);
  return { text, isNew: true };
}

/** Writes the file, or another in its place. A crash leaves the whole new one or what was there. */
export function writeSecret(file, text, mode = 0o400) {
  const part = `${file}.part`;
  rmSync(part, { force: true });
  const handle = openSync(part, 'wx', mode);
  writeFileSync(handle, text);
  // In a container it runs as root, for the services, which do not.
  if (process.getuid?.() === 0) fchownSync(handle, SERVICE_USER, SERVICE_USER);
  // Whatever the process's umask takes off.
  fchmodSync(handle, mode);
  fsyncSync(handle);
  closeSync(handle);
  renameSync(part, file);
  syncFolder(dirname(file));
}

/** Without it a loss of power may undo a rename. */
function syncFolder(folder) {
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}
