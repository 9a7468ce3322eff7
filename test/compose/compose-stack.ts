import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findFreePort } from '../../tools/devnet/processes/free-port.js';
import { connectOperator, type AskOperator } from '../harness/agents/operator-client.js';

const READY_WITHIN_MS = 300_000;

/** One run of the compose file with the profile `devnet`, as a project of its own, on free ports. */
export class ComposeStack {
  /** For the containers' settings; read at each start. */
  readonly env: NodeJS.ProcessEnv;
  /** A folder for the test's own files, removed with the stack. */
  readonly folder = mkdtempSync(join(tmpdir(), 'tollgate-compose-'));
  readonly gateway: string;
  readonly rpcUrl: string;
  /** Of the second devnet, where there is one. */
  readonly secondRpcUrl: string;
  /** The bookkeeper's operator API. */
  readonly operator: string;
  readonly #command: readonly string[];

  private constructor(command: readonly string[], ports: Record<'gateway' | 'devnet' | 'second' | 'operator', number>) {
    this.#command = command;
    this.gateway = `http://127.0.0.1:${ports.gateway}`;
    this.rpcUrl = `http://127.0.0.1:${ports.devnet}`;
    this.secondRpcUrl = `http://127.0.0.1:${ports.second}`;
    this.operator = `http://127.0.0.1:${ports.operator}`;
    this.env = {
      ...process.env,
      PORT: String(ports.gateway),
      DEVNET_PORT: String(ports.devnet),
      DEVNET_2_PORT: String(ports.second),
      OPERATOR_PORT: String(ports.operator),
      COMPOSE_PROJECT_NAME: `tollgate-test-${process.pid}`,
    };
  }

  /** @param files compose files, the later ones over the earlier */
  static async create(files: readonly string[]): Promise<ComposeStack> {
    const command = [...findCompose(), ...files.flatMap((file) => ['--file', file]), '--profile', 'devnet'];
    const [gateway = 0, devnet = 0, second = 0, operator = 0] = await Promise.all(
      Array.from({ length: 4 }, () => findFreePort()),
    );
    return new ComposeStack(command, { gateway, devnet, second, operator });
  }

  async up(...options: string[]): Promise<void> {
    await this.#run(['up', '--detach', ...options]);
  }

  async down(): Promise<void> {
    step('take everything down');
    await this.#run(['down', '--volumes', '--timeout', '30']);
  }

  /** Takes everything down, after the end of the logs if the test has failed. */
  async end(failed: boolean): Promise<void> {
    if (failed) {
      const [program = '', ...args] = this.#command;
      spawnSync(program, [...args, 'logs', '--tail', '40'], { env: this.env, stdio: 'inherit' });
    }
    await this.down().catch(console.error);
    rmSync(this.folder, { recursive: true });
  }

  containersOf(service: string): string[] {
    return capture([...this.#command, 'ps', '-q', service], this.env)
      .split('\n')
      .filter(Boolean);
  }

  /** What a command in a container of the service prints. */
  exec(service: string, ...command: string[]): string {
    return capture([...this.#command, 'exec', '-T', service, ...command], this.env);
  }

  docker(...args: string[]): string {
    return capture(['docker', ...args], this.env);
  }

  /** Each service as often as it has containers. */
  async waitUntilHealthy(services: readonly string[]): Promise<void> {
    for (const endsAtMs = Date.now() + READY_WITHIN_MS; ; await new Promise((resolve) => setTimeout(resolve, 1000))) {
      const containers = [...new Set(services)].flatMap((service) => this.containersOf(service));
      const health = containers.map((id) => this.docker('inspect', '-f', '{{.State.Health.Status}}', id).trim());
      if (health.filter((status) => status === 'healthy').length === services.length) return;
      assert(Date.now() < endsAtMs, `not healthy within ${READY_WITHIN_MS} ms: ${health.join(', ')}`);
    }
  }

  /** The command that `docker-compose.yml` shows to newcomers. */
  createApiKey(wallet: string): string {
    return this.#createKey('--scope', 'submit,read', '--wallet', wallet);
  }

  /** With a new API key. */
  connectOperator(): AskOperator {
    return connectOperator(this.operator, this.#createKey('--scope', 'operator:read'));
  }

  #createKey(...options: string[]): string {
    const output = this.exec('gateway', 'tollgate', 'keys', 'create', '--name', 'compose', '--json', ...options);
    const token = /tgk_\w+_[\w-]+/.exec(output)?.[0];
    assert(token !== undefined, `no API key was made: ${output}`);
    return token;
  }

  async #run(args: readonly string[]): Promise<void> {
    const [program = '', ...before] = this.#command;
    const child = spawn(program, [...before, ...args], { env: this.env, stdio: ['ignore', 'inherit', 'inherit'] });
    const code = await new Promise((resolve) => child.once('exit', resolve));
    assert(code === 0, `${program} ${args.join(' ')} ended with ${String(code)}`);
  }
}

export function step(text: string): void {
  console.log(`\n» ${text}`);
}

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** Compose is a plugin of docker or, in older versions, a program of its own. */
function findCompose(): string[] {
  const kinds = [['docker', 'compose'], ['docker-compose']];
  const found = kinds.find(([command = '', ...args]) => spawnSync(command, [...args, 'version']).status === 0);
  if (found === undefined || spawnSync('docker', ['info']).status !== 0) {
    console.error('This test needs Docker: a running engine, and docker compose (or docker-compose) on the PATH.');
    process.exit(1);
  }
  return found;
}

function capture([command = '', ...args]: string[], env: NodeJS.ProcessEnv): string {
  const { status, stdout, stderr } = spawnSync(command, args, { env, encoding: 'utf8' });
  assert(status === 0, `${command} ${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}
