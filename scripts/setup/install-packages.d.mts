export function arePackagesInstalled(root: string): boolean;
export function installPackages(root: string): Promise<void>;
