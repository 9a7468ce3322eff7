import { paid } from '@tollgate/middleware/hono';
import { Hono } from 'hono';

import { gate } from './gate.js';

const app = new Hono();
app.get('/weather', paid(gate, { price: '0.001', description: 'The weather' }), (context) => {
  return context.json({ conditions: 'sunny' });
});
export default app;
