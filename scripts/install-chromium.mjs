// Gets the browser of test/pages from the system's package manager; nothing is downloaded from elsewhere.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runProgram, StepError } from './run-step.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable'];
const CHOICES = 'install chromium so that it is on the PATH, for example with `apt-get install chromium`.';

/** The program on the PATH; undefined where there is none. */
export function findChromium() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

export async function installChromium() {
  if (process.getuid?.() !== 0)
    throw new StepError('there is no Chromium, and only root can install it', { remedy: CHOICES });
  const install = ['install', '--yes', '--no-install-recommends', 'chromium'];
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  // The package lists of a new machine may be missing or old.
  await runProgram('apt-get', ['update'], { env, remedy: CHOICES });
  await runProgram('apt-get', install, { env, remedy: CHOICES });
  if (findChromium() === undefined) throw new StepError('apt-get gave no Chromium', { remedy: CHOICES });
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
