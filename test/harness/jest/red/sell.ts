import { Till } from './till.js';

type Price = {
  amount: bigint;
};

const price: Price = { amount: 1n };

new Till(5n).take({ id: 'tea', ...price });
