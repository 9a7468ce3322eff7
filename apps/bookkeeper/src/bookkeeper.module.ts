import { Module, type DynamicModule } from '@nestjs/common';
import { checkRedis, createLoggerParams, HealthModule, MetricsModule } from '@tollgate/common';
import { listSecrets } from '@tollgate/config';
import { LoggerModule } from 'nestjs-pino';

import { BookHolder } from './book/book-holder.js';
import { BookModule } from './book/book.module.js';
import { BookkeeperEnvironment } from './config/bookkeeper.config.js';
import { ConsoleController } from './console/console.controller.js';
import { BookkeeperConnections } from './drain/connections.js';
import { OperatorModule } from './operator/operator.module.js';
import { SessionsModule } from './sessions/sessions.module.js';

@Module({})
export class BookkeeperModule {
  /** Gives the settings to the modules; Nest builds everything else. */
  static forRoot(environment: BookkeeperEnvironment): DynamicModule {
    return {
      module: BookkeeperModule,
      global: true,
      imports: [
        LoggerModule.forRoot(
          createLoggerParams({ service: 'bookkeeper', log: environment.log, secrets: listSecrets(environment) }),
        ),
        MetricsModule.forRoot({ service: 'bookkeeper' }),
        HealthModule.forRootAsync({
          imports: [BookModule],
          inject: [BookkeeperConnections, BookHolder],
          useFactory: ({ commands }: BookkeeperConnections, book: BookHolder) => ({
            redis: checkRedis(commands),
            book: () => book.assertOpen(),
          }),
        }),
        BookModule,
        OperatorModule,
        SessionsModule,
      ],
      // The console: pages for operators, on the operator API alone.
      controllers: [ConsoleController],
      providers: [{ provide: BookkeeperEnvironment, useValue: environment }],
      exports: [BookkeeperEnvironment],
    };
  }
}
