// A commit of this repository, checked out and built in a temporary folder of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runProgram, runStep } from '../../scripts/run-step.mjs';
import { installPackages } from '../../scripts/setup/install-packages.mjs';

/**
 * Checks a commit out in a temporary folder, installs its packages and builds its services; a minute or more. `id` is the
 * abbreviated hash, `remove` ends the worktree.
 */
export async function buildCommit(root, commit) {
  const git = (...args) =>
    runProgram('git', args, {
      cwd: root,
      remedy: `name a commit that \`git log\` shows; a shallow clone gets older ones by \`git fetch --unshallow\`.`,
    });
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-commit-'));
  const checkout = join(folder, 'checkout');
  const remove = async () => {
    // The worktree may not have been made.
    await git('worktree', 'remove', '--force', checkout).catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    let id = '';
    await runStep(`worktree of ${commit} (git)`, async () => {
      id = (await git('rev-parse', '--short', '--verify', `${commit}^{commit}`)).trim();
      await git('worktree', 'add', '--detach', checkout, id);
      return id;
    });
    await runStep(`packages of ${id} (npm ci)`, () => installPackages(checkout));
    await runStep(`services of ${id} (npm run build)`, async () => {
      await runProgram('npm', ['run', 'build'], { cwd: checkout });
    });
    return { id, checkout, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
