import { IsIn } from 'class-validator';

import { Setting } from './setting.js';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export const LOG_FORMATS = ['json', 'pretty'] as const;

export class LogEnvironment {
  @Setting({ help: `Log level: ${LOG_LEVELS.join(', ')}.` })
  @IsIn(LOG_LEVELS)
  readonly logLevel: (typeof LOG_LEVELS)[number] = 'info';

  @Setting({ help: 'json: one JSON object per line, for machines; pretty: one readable line, for people.' })
  @IsIn(LOG_FORMATS)
  readonly logFormat: (typeof LOG_FORMATS)[number] = 'json';
}
