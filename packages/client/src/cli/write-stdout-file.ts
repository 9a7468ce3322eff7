import { fstatSync, writeSync } from 'node:fs';

const STDOUT = 1;

/**
 * Writes the whole text to stdout where that is a file; false where it is something else. Node's own stream writes only
 * once, and takes the part that did not fit on the disk for written.
 * @throws the error of the file system
 */
export function writeStdoutFile(text: Uint8Array | string): boolean {
  if (!fstatSync(STDOUT).isFile()) return false;
  for (let rest = Buffer.from(text); rest.length > 0;) rest = rest.subarray(writeSync(STDOUT, rest));
  return true;
}
