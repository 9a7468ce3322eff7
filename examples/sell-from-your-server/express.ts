import { paid } from '@tollgate/middleware/express';
import express from 'express';

import { gate } from './gate.js';

const app = express();
app.get('/weather', paid(gate, { price: '0.001', description: 'The weather' }), (_request, response) => {
  response.json({ conditions: 'sunny' });
});
app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
