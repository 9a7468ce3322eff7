export function compiledContractsPath(): string;
