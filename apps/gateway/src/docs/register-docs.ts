import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ICON_URL } from '@tollgate/http';
import type { FastifyInstance } from 'fastify';
import swaggerUiPath from 'swagger-ui-dist/absolute-path.js';

import { escapeHtml } from '../pages/document.js';
import { basePathOf } from '../pages/sale-terms.js';
import { createDocument, DOCUMENTS, type DocsParts, type DocumentName } from './create-document.js';

/** A document's page in a folder of its own, but for what customers read. */
const folderOf = (name: DocumentName): string => (name === 'sold' ? '/docs' : `/docs/${name}`);

function renderPage(base: string, name: DocumentName, { environment, logo }: DocsParts): string {
  const assets = escapeHtml(`${base}/docs`);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escapeHtml(environment.pages.brandName)}</title>
    <link rel="icon" href="${logo === null ? ICON_URL : escapeHtml(base + logo.path)}" />
    <link rel="stylesheet" href="${assets}/swagger-ui.css" />
  </head>
  <body>
    <div id="docs"></div>
    <script src="${assets}/swagger-ui-bundle.js"></script>
    <script src="${escapeHtml(base + folderOf(name))}/start.js"></script>
  </body>
</html>
`;
}

const renderStart = (folder: string): string =>
  `SwaggerUIBundle({ url: ${JSON.stringify(`${folder}/openapi.json`)}, dom_id: '#docs', validatorUrl: null });\n`;
// Allows only the page's own files, and no frame: people type API keys into it.
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache',
};

/**
 * `GET /docs` for people, `GET /docs/openapi.json` for programs, and the same below `/docs/jobs` and the like: made when
 * first asked for, so that no start waits for them.
 */
export function registerDocs(server: FastifyInstance, parts: DocsParts): void {
  const base = basePathOf(parts.environment.server.publicUrl ?? '');
  const assets = swaggerUiPath();
  const serve = (url: string, type: string, create: () => string | Buffer): void => {
    let content: string | Buffer | undefined;
    server.get(url, (_request, reply) => {
      content ??= create();
      return reply.type(type).headers(HEADERS).send(content);
    });
  };
  const serveAsset = (file: string, type: string): void =>
    serve(`/docs/${file}`, type, () => readFileSync(join(assets, file)));
  serveAsset('swagger-ui.css', 'text/css; charset=utf-8');
  serveAsset('swagger-ui-bundle.js', 'text/javascript; charset=utf-8');
  const { isServed } = parts.environment.facilitator;
  for (const name of (Object.keys(DOCUMENTS) as DocumentName[]).filter((one) => one !== 'facilitator' || isServed)) {
    const folder = folderOf(name);
    serve(folder, 'text/html; charset=utf-8', () => renderPage(base, name, parts));
    serve(`${folder}/start.js`, 'text/javascript; charset=utf-8', () => renderStart(base + folder));
    serve(`${folder}/openapi.json`, 'application/json; charset=utf-8', () =>
      JSON.stringify(createDocument(parts, name)),
    );
  }
}
