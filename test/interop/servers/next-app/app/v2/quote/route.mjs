import { withX402, x402ResourceServer } from '@x402/next';
import { NextResponse } from 'next/server';

import { createResourceServer, quote, routeV2 } from '../../../../configuration.mjs';

const handler = async () => NextResponse.json(quote('@x402/next'));

export const GET = withX402(handler, routeV2, await createResourceServer(x402ResourceServer));
