// Both middlewares for Next in one small app, `/v1` and `/v2`, on its development server: that needs no build.
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

import next from 'next';

import { announce } from './configuration.mjs';

const app = next({ dev: true, dir: fileURLToPath(new URL('./next-app', import.meta.url)), hostname: '127.0.0.1' });
await app.prepare();
const handle = app.getRequestHandler();
const server = createServer((request, response) => handle(request, response));
server.listen(0, '127.0.0.1', () => announce(server.address().port));
