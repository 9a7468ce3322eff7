import { setSettlementOverrides, withX402, x402ResourceServer } from '@x402/next';
import { NextResponse } from 'next/server';

import { createResourceServer, failure, quote, routeMetered, spent } from '../../../../configuration.mjs';

const handler = async ({ nextUrl }) => {
  if (nextUrl.searchParams.has('fails')) return NextResponse.json(failure, { status: 500 });
  const response = NextResponse.json(quote('@x402/next'));
  setSettlementOverrides(response, spent);
  return response;
};

export const GET = withX402(handler, routeMetered, await createResourceServer(x402ResourceServer));
