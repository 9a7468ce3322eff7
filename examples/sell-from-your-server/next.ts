// app/weather/route.ts
import { paid } from '@tollgate/middleware/next';

import { gate } from './gate.js';

export const GET = paid(gate, { price: '0.001', description: 'The weather' }, () => {
  return Response.json({ conditions: 'sunny' });
});
