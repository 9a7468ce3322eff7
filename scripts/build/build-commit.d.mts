export interface BuiltCommit {
  /** The abbreviated hash. */
  id: string;
  /** The folder, with its packages installed and its services built. */
  checkout: string;
  /** Removes the worktree and its folder. */
  remove(): Promise<void>;
}
/** Checks a commit out in a temporary folder, installs its packages and builds its services; a minute or more. */
export function buildCommit(root: string, commit: string): Promise<BuiltCommit>;
