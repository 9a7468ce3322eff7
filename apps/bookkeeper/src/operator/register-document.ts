import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { toOpenApiSchema } from '@tollgate/http';

import packageJson from '../../../../package.json' with { type: 'json' };

/** `GET /operator/openapi.json`: the operator API, as its controllers declare it. */
export function registerDocument(app: NestFastifyApplication): void {
  const builder = new DocumentBuilder()
    .setTitle('Tollgate operator API')
    .setDescription('What was paid, booked, refused and refunded. Errors are problem+json (RFC 9457).')
    .setVersion(packageJson.version)
    .setOpenAPIVersion('3.1.0')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'tgk_<id>_<secret>' });
  const document = SwaggerModule.createDocument(app, builder.build(), {
    standardSchemaConverter: toOpenApiSchema,
  });
  const text = JSON.stringify(document);
  app
    .getHttpAdapter()
    .getInstance()
    .get('/operator/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(text));
}
