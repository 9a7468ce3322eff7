import { AgentKitError } from './types/agent-kit-error.js';

/**
 * The optional peer dependencies of this package, each with the major version to install. The kit's core needs none of
 * them.
 */
export const OPTIONAL_PACKAGES = {
  '@langchain/anthropic': '1',
  '@langchain/core': '1',
  '@langchain/langgraph': '1',
  '@langchain/openai': '1',
  '@modelcontextprotocol/sdk': '1',
  ai: '6',
  langchain: '1',
} as const;

export type OptionalPackage = keyof typeof OPTIONAL_PACKAGES;

/** Node's error codes for a missing module, with `import` and with `require`. */
const MISSING_CODES = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'];

/**
 * Loads modules that import optional packages.
 * @param user the feature that needs them, for the error text.
 * @param packages everything it needs, so that one command installs what is missing.
 * @throws AgentKitError `PACKAGE_MISSING`
 */
export async function loadPackages<Modules>(
  user: string,
  packages: readonly OptionalPackage[],
  load: () => Promise<Modules>,
): Promise<Modules> {
  try {
    return await load();
  } catch (error) {
    const missing = packages.find((name) => isMissing(name, error));
    if (missing === undefined) throw error;
    const command = `npm install ${packages.map((name) => `${name}@${OPTIONAL_PACKAGES[name]}`).join(' ')}`;
    throw new AgentKitError(
      'PACKAGE_MISSING',
      `${user} needs the package ${missing}, which is not installed: run \`${command}\`.`,
      { details: { missing, packages, command } },
    );
  }
}

/**
 * Whether the package itself is missing. A package that lacks one of its own dependencies is broken, which its own
 * error reports.
 */
function isMissing(name: OptionalPackage, error: unknown): boolean {
  if (!(error instanceof Error) || !MISSING_CODES.includes(String((error as NodeJS.ErrnoException).code))) return false;
  const [, wanted = ''] = /^Cannot find (?:package|module) '([^']+)'/.exec(error.message) ?? [];
  return wanted === name || wanted.startsWith(`${name}/`);
}
