import { IsIn } from 'class-validator';

import { IsIntIn, Setting } from './setting.js';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export const LOG_FORMATS = ['json', 'pretty'] as const;

export class LogEnvironment {
  @Setting({ help: `Log level: ${LOG_LEVELS.join(', ')}.` })
  @IsIn(LOG_LEVELS)
  readonly logLevel: (typeof LOG_LEVELS)[number] = 'info';

  @Setting({ help: 'json, for machines, or pretty, for people.' })
  @IsIn(LOG_FORMATS)
  readonly logFormat: (typeof LOG_FORMATS)[number] = 'json';
}

/** Read by libs/crypto itself, which is needed while the settings are still being read. */
export class CryptoEnvironment {
  @Setting({
    name: 'TOLLGATE_SECP256K1',
    help: 'Code that signs and recovers: native, wasm (slower), or auto: native where its binary can be loaded.',
  })
  @IsIn(['auto', 'native', 'wasm'])
  readonly secp256k1: 'auto' | 'native' | 'wasm' = 'auto';
}

export class ShutdownEnvironment {
  @Setting({
    help: 'Milliseconds that running work has to finish after SIGTERM; at the gateway, after DRAIN_MS.',
  })
  @IsIntIn(0, 600_000)
  readonly shutdownTimeoutMs: number = 25_000;
}
