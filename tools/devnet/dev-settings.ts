import { ConfigurationError } from '@tollgate/common';

const USUAL_PORTS = { PORT: 4020, VERIFIER_PORT: 4021, AGENT_WORKER_PORT: 4022, BOOKKEEPER_PORT: 4023 } as const;
const MAX_PORT = 65_535;

/** The settings of `npm run dev` itself; no service gets them unchanged. */
export interface DevSettings {
  /** 0 takes any that is free. */
  readonly ports: Readonly<Record<keyof typeof USUAL_PORTS, number>>;
  /** Undefined: the devnet's own. */
  readonly chainId: number | undefined;
}

/** @throws ConfigurationError listing every wrong one */
export function readDevSettings(env: NodeJS.ProcessEnv): DevSettings {
  const problems: string[] = [];
  const read = (name: string, least: number, most: number): number | undefined => {
    const text = env[name];
    if (text === undefined || text === '') return undefined;
    const number = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
    if (number >= least && number <= most) return number;
    problems.push(`${name} must be a number from ${least} to ${most}, and is ${JSON.stringify(text)}`);
    return undefined;
  };
  const portOf = (name: keyof typeof USUAL_PORTS) => read(name, 0, MAX_PORT) ?? USUAL_PORTS[name];
  const settings = {
    ports: {
      ...{ PORT: portOf('PORT'), VERIFIER_PORT: portOf('VERIFIER_PORT') },
      ...{ AGENT_WORKER_PORT: portOf('AGENT_WORKER_PORT'), BOOKKEEPER_PORT: portOf('BOOKKEEPER_PORT') },
    },
    chainId: read('CHAIN_ID', 1, Number.MAX_SAFE_INTEGER),
  };
  if (problems.length > 0) throw new ConfigurationError(problems);
  return settings;
}

/** The developer's own settings, without those that this devnet sets itself (addresses of its parts). */
export function chosenSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const decided = [
    ...['REDIS_URL', 'QUEUE_REDIS_URL', 'RPC_URL', 'CHAIN_ID', 'ASSET_ADDRESS', ...Object.keys(USUAL_PORTS)],
    ...['WALLET_PRIVATE_KEY', 'WALLET_PRIVATE_KEY_FILE', 'WALLETS_FILE', 'POLICY_FILE'],
    ...['RELAYER_PRIVATE_KEYS', 'RELAYER_PRIVATE_KEYS_FILE'],
  ];
  return Object.fromEntries(Object.entries(env).filter(([name]) => !decided.includes(name)));
}

/** The warning that links under PUBLIC_URL lead to another program, which has the port; null if they do not. */
export function warnOfPublicUrl(publicUrl: string | undefined, wantedPort: number, baseUrl: string): string | null {
  if (!publicUrl || wantedPort === 0 || portOf(baseUrl) === wantedPort || portOf(publicUrl) !== wantedPort) return null;
  return `PUBLIC_URL names port ${wantedPort}, which was taken: the gateway listens at ${baseUrl}, and ${publicUrl} is another program.`;
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}
