import { Module } from '@nestjs/common';

import { BookModule } from '../book/book.module.js';
import { ConsoleSessions } from './console-sessions.js';
import { OperatorKeys } from './operator-keys.js';

/** Who asks: API keys of operators, and the sessions that they began at the console. */
@Module({
  imports: [BookModule],
  providers: [OperatorKeys, ConsoleSessions],
  exports: [OperatorKeys, ConsoleSessions],
})
export class SessionsModule {}
