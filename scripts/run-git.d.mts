export function runGit(args: string[], options?: { cwd?: string }): string;
