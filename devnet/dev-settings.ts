const USUAL_PORTS = { PORT: 4020, VERIFIER_PORT: 4021, AGENT_WORKER_PORT: 4022 } as const;
const MAX_PORT = 65_535;

/** What `npm run dev` reads itself: these never reach a service as they are. */
export interface DevSettings {
  /** 0 takes any that is free. */
  readonly ports: Readonly<Record<keyof typeof USUAL_PORTS, number>>;
  /** Undefined: the devnet's own. */
  readonly chainId: number | undefined;
}

/** @throws Error listing every one that is wrong */
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
      PORT: portOf('PORT'),
      VERIFIER_PORT: portOf('VERIFIER_PORT'),
      AGENT_WORKER_PORT: portOf('AGENT_WORKER_PORT'),
    },
    chainId: read('CHAIN_ID', 1, Number.MAX_SAFE_INTEGER),
  };
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return settings;
}
