// Gets the browser of test/pages from the system's package manager; nothing is downloaded from elsewhere.
import { installDebianPackage } from './install-debian-package.mjs';
import { isProgram, listOnPath } from './on-path.mjs';
import { StepError } from './run-step.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable'];
const CHOICES = 'install chromium so that it is on the PATH, for example with `apt-get install chromium`.';

/** The program on the PATH; undefined where there is none. */
export function findChromium() {
  return NAMES.flatMap((name) => listOnPath(name)).find(isProgram);
}

export async function installChromium() {
  await installDebianPackage('chromium', CHOICES);
  if (findChromium() === undefined) throw new StepError('apt-get gave no Chromium', { remedy: CHOICES });
}
