import { withX402, x402ResourceServer } from '@x402/next';
import { NextResponse } from 'next/server';

import { createResourceServer, failure, quote, routePermit2 } from '../../../../configuration.mjs';

const handler = async ({ nextUrl }) =>
  nextUrl.searchParams.has('fails')
    ? NextResponse.json(failure, { status: 500 })
    : NextResponse.json(quote('@x402/next'));

export const GET = withX402(handler, routePermit2, await createResourceServer(x402ResourceServer));
