import { Controller, Get, Header, Inject, Module, type DynamicModule } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { collectDefaultMetrics, Registry } from 'prom-client';

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

/** `GET /metrics` in the Prometheus text format; the `Registry` is injectable everywhere. */
@Module({})
export class MetricsModule {
  /** @param labels of every metric of the process */
  static forRoot(labels: { readonly service: string; readonly chain?: string }): DynamicModule {
    const registry = new Registry();
    registry.setDefaultLabels(labels);
    collectDefaultMetrics({ register: registry });
    return {
      module: MetricsModule,
      global: true,
      controllers: [MetricsController],
      providers: [{ provide: Registry, useValue: registry }],
      exports: [Registry],
    };
  }
}
