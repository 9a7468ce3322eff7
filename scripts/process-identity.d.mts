export function readStartTime(pid: number): string;
export function readRunningPid(pidFile: string): number | undefined;
