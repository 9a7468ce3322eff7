import { Module, type DynamicModule } from '@nestjs/common';
import { collectDefaultMetrics, Registry } from 'prom-client';

import { MetricsController } from './metrics.controller.js';

/** `GET /metrics` in the Prometheus text format; the `Registry` is injectable everywhere. */
@Module({})
export class MetricsModule {
  static forRoot({ service }: { service: string }): DynamicModule {
    const registry = new Registry();
    registry.setDefaultLabels({ service });
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
