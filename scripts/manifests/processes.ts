import 'reflect-metadata';
import { listSettings, type EnvironmentClass, type SettingDescription } from '@tollgate/config';

import { AgentWorkerEnvironment } from '../../apps/agent-worker/src/config/agent-worker.config.js';
import { BookkeeperEnvironment } from '../../apps/bookkeeper/src/config/bookkeeper.config.js';
import { GatewayEnvironment } from '../../apps/gateway/src/config/gateway.config.js';
import { VerifierEnvironment } from '../../apps/verifier/src/config/verifier.config.js';
import { HealthController } from '../../libs/common/src/health/health.module.js';
import { MetricsController } from '../../libs/common/src/metrics/metrics.module.js';

/** What a process makes of its settings, as far as the manifests repeat it. */
export interface Listening {
  host: string;
  port: number;
  /** The longest time from SIGTERM to the exit. */
  stopMs: number;
}

export interface Process {
  environment: EnvironmentClass;
  settings: ReadonlyMap<string, SettingDescription>;
  listening: (environment: object) => Listening;
}

function describe<T extends object>(environment: EnvironmentClass<T>, listening: (read: T) => Listening): Process {
  const settings = new Map(listSettings(environment).map((setting) => [setting.name, setting]));
  return { environment, settings, listening: (read) => listening(read as T) };
}

/** By the name of the container and of its Deployment. */
export const PROCESSES: ReadonlyMap<string, Process> = new Map(
  Object.entries({
    gateway: describe(GatewayEnvironment, ({ server: { host, port, drainMs }, shutdown }) => {
      return { host, port, stopMs: drainMs + shutdown.shutdownTimeoutMs };
    }),
    verifier: describe(VerifierEnvironment, ({ server: { verifierHost: host, verifierPort: port }, shutdown }) => {
      return { host, port, stopMs: shutdown.shutdownTimeoutMs };
    }),
    'agent-worker': describe(AgentWorkerEnvironment, ({ server, shutdown }) => {
      return { host: server.agentWorkerHost, port: server.agentWorkerPort, stopMs: shutdown.shutdownTimeoutMs };
    }),
    bookkeeper: describe(BookkeeperEnvironment, ({ server, shutdown }) => {
      return { host: server.bookkeeperHost, port: server.bookkeeperPort, stopMs: shutdown.shutdownTimeoutMs };
    }),
  }),
);

/** The paths that every process serves, as its controllers declare them. */
export const PATHS = {
  live: pathOf(HealthController, 'live'),
  ready: pathOf(HealthController, 'ready'),
  metrics: pathOf(MetricsController, 'read'),
};

function pathOf<T extends object>(controller: abstract new (...args: never[]) => T, method: keyof T & string): string {
  const handler = (controller.prototype as Record<string, object>)[method] ?? {};
  const parts = [controller, handler].map((target) => String(Reflect.getMetadata('path', target)));
  return `/${parts.filter((part) => part !== '/').join('/')}`;
}
