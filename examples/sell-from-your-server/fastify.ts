import { paid } from '@tollgate/middleware/fastify';
import fastify from 'fastify';

import { gate } from './gate.js';

const app = fastify();
app.get('/weather', paid(gate, { price: '0.001', description: 'The weather' }), async () => {
  return { conditions: 'sunny' };
});
await app.listen({ port: Number(process.env['PORT'] ?? 3000) });
