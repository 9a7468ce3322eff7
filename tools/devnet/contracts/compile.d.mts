export function compiledContractsPath(): string;
export function isCompiled(path: string): boolean;
