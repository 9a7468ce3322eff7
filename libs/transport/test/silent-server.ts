/** A server that takes questions and never answers, to be killed: prints one line for each. */
import 'reflect-metadata';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagePattern, Payload } from '@nestjs/microservices';

import { RequestReplyServer } from '../src/index.js';

@Controller()
class SilentController {
  @MessagePattern('question')
  take(@Payload() data: unknown): Promise<never> {
    console.log(`took ${String(data)}`);
    return new Promise<never>(() => undefined);
  }
}

@Module({ controllers: [SilentController] })
class SilentModule {}

const strategy = new RequestReplyServer({ redisUrl: String(process.argv[2]), queue: 'faults' });
void NestFactory.createMicroservice(SilentModule, { strategy, logger: ['error'] })
  .then((app) => app.listen())
  .then(() => console.log('listening'));
