import { Controller, Get, Header, Inject } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { Registry } from 'prom-client';

@Controller('metrics')
export class MetricsController {
  constructor(@Inject(Registry) private readonly registry: Registry) {}

  @Get()
  @Header('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE)
  @Header('Cache-Control', 'no-store')
  @RouteConfig({ access: 'free' })
  read(): Promise<string> {
    return this.registry.metrics();
  }
}
