import type { parseArgs, ParseArgsConfig } from 'node:util';

type Arguments<Configuration extends ParseArgsConfig> = ReturnType<typeof parseArgs<Configuration>>;

export function readArguments<const Configuration extends ParseArgsConfig>(
  help: string,
  configuration: Configuration,
  check?: (read: Arguments<Configuration>) => void,
): Arguments<Configuration>;
