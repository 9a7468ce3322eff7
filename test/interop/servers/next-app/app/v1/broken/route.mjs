import { NextResponse } from 'next/server';
import { withX402 } from 'x402-next';

import { configuration, facilitatorV1, failure, routeV1 } from '../../../../configuration.mjs';

const handler = async () => NextResponse.json(failure, { status: 500 });

export const GET = withX402(handler, configuration.payTo, routeV1, facilitatorV1);
