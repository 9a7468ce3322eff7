import { defineRead, type OperationPlugin } from '@tollgate/agent-kit';
import { formatGwei } from 'viem';
import { z } from 'zod';

const getGasPrice = defineRead({
  name: 'getGasPrice',
  title: 'Read the gas price',
  description: 'What the chain takes for a unit of gas now, in gwei.',
  input: z.object({}),
  output: z.object({ gwei: z.string() }),
  read: async (_input, { client }) => ({ gwei: formatGwei(await client.getGasPrice()) }),
});

/** Adds one operation, for any chain. */
export const gasPrice: OperationPlugin = {
  kind: 'operations',
  name: 'Gas price',
  chainIds: 'any',
  operations: [getGasPrice],
};
