// A NestJS application on Fastify whose onRequest hook answers each request with one ready-made 402.
import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';

const { headers, body } = JSON.parse(process.env['ANSWER'] ?? '') as { headers: Record<string, string>; body: string };

@Controller()
class WeatherController {
  @Get('api/weather')
  read(): string {
    return 'paid';
  }
}

@Module({ controllers: [WeatherController] })
class WeatherModule {}

const app = await NestFactory.create<NestFastifyApplication>(WeatherModule, new FastifyAdapter(), {
  logger: ['error'],
});
app
  .getHttpAdapter()
  .getInstance()
  .addHook('onRequest', (_request, reply) => void reply.code(402).headers(headers).send(body));
await app.listen(0, '127.0.0.1');
process.stdout.write(`ready ${await app.getUrl()}\n`);
