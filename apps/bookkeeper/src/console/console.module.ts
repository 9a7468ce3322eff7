import { Module } from '@nestjs/common';

import { SessionsModule } from '../sessions/sessions.module.js';
import { ConsoleController } from './console.controller.js';

/** The console: pages for operators, on the operator API alone. */
@Module({ imports: [SessionsModule], controllers: [ConsoleController] })
export class ConsoleModule {}
