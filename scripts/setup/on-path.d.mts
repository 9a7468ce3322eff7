/** The paths that programs of these names have if they are on the PATH, in its order. */
export function listOnPath(...names: string[]): string[];

/** Whether there is a file that this user may execute. */
export function isProgram(path: string): boolean;
