import { runProgram, StepError } from './run-step.mjs';

/** Installs a package of the system. @throws StepError with the remedy where this user may not, or apt-get fails */
export async function installDebianPackage(name, remedy) {
  if (process.getuid?.() !== 0) throw new StepError(`there is no ${name}, and only root can install it`, { remedy });
  // A database server is not to start with its package: its user starts one with data of its own.
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  // The package lists of a new machine may be missing or old.
  await runProgram('apt-get', ['update'], { env, remedy });
  await runProgram('apt-get', ['install', '--yes', '--no-install-recommends', name], { env, remedy });
}
