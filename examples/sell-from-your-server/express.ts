import { paid } from '@tollgate/middleware/express';
import express from 'express';

import { gate } from './gate.js';

const app = express();
app.get('/weather', paid(gate, { price: '0.001', description: 'The weather' }), (_request, response) => {
  response.json({ conditions: 'sunny' });
});
const port = Number(process.env['PORT'] ?? 3000);
app.listen(port, '127.0.0.1', () => console.log(`Selling at http://127.0.0.1:${port}/weather`));
