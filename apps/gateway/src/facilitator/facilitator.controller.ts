import { Body, Controller, Get, HttpCode, Inject, Post, Query, Req, Res, UsePipes } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { type ApiKey, CHECK_REQUEST, ProblemError } from '@tollgate/http';
import {
  IDEMPOTENCY_KEY,
  IDEMPOTENT_REPLAYED,
  type DiscoveryResponse,
  type SettleResponse,
  type SupportedResponse,
  type VerifyResponse,
} from '@tollgate/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { OptionalCaller } from '../agent/access/caller.js';
import { DescribeRoute, answerWith, FACILITATOR_TAG, REPLAYED } from '../docs/describe/openapi-parts.js';
import {
  discoveryResponse,
  settleResponse,
  supportedResponse,
  verifyResponse,
} from '../docs/facilitator/facilitator-schemas.js';
import { INVALID_IDEMPOTENCY_KEY, readIdempotencyKey } from '../server/idempotency-key.js';
import { ForServers } from './facilitator-access.js';
import { FacilitatorSettlement } from './facilitator-settlement.js';
import { FacilitatorVerification } from './facilitator-verification.js';
import { listingQuery, type ListingQuery, ResourceListing } from './resource-listing.js';
import { SupportedKinds } from './supported-kinds.js';

/** The x402 facilitator API. */
@Controller('facilitator')
@UsePipes(CHECK_REQUEST)
export class FacilitatorController {
  constructor(
    @Inject(FacilitatorVerification) private readonly verification: FacilitatorVerification,
    @Inject(FacilitatorSettlement) private readonly settlement: FacilitatorSettlement,
    @Inject(SupportedKinds) private readonly kinds: SupportedKinds,
    @Inject(ResourceListing) private readonly listing: ResourceListing,
  ) {}

  @Post('verify')
  @HttpCode(200)
  @ForServers('verify', {
    summary: 'Verify a signed payment against payment requirements',
    description: 'Nothing is claimed or settled. An invalid payment is a 200 with `isValid: false`.',
    answers: { 200: answerWith('The verdict.', verifyResponse) },
    problems: {
      401: 'The API key is unknown or revoked.',
      503: 'The payment cannot be verified now: send the same request again.',
    },
  })
  verify(
    @OptionalCaller() key: ApiKey | null,
    @Body() body: unknown,
    @Req() { id: requestId, ip: clientAddress }: FastifyRequest,
  ): Promise<VerifyResponse> {
    return this.verification.verify(body, { requestId, clientAddress, key });
  }

  @Post('settle')
  @HttpCode(200)
  @ForServers('settle', {
    summary: 'Settle a signed payment',
    description:
      'Each payment is reported as settled only once. After `settlement_pending`, repeat the request to learn the result. With the scheme `upto`, the `amount` of the requirements is settled; 0 succeeds without a transaction.',
    headers: [
      {
        name: IDEMPOTENCY_KEY,
        description: 'A repeat with the same key and request gets the same response, including a success.',
        schema: { type: 'string', minLength: 1, maxLength: 255 },
      },
    ],
    answers: {
      200: answerWith(
        'The settlement result.',
        settleResponse,
        REPLAYED('The response is a replay of an earlier one with this key.'),
      ),
    },
    problems: {
      401: 'The API key is unknown or revoked, or this payment is only settled with an API key.',
      503: 'Nothing was submitted, or that is unknown (code settlement_pending): send the same request again.',
    },
  })
  async settle(
    @OptionalCaller() key: ApiKey | null,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SettleResponse> {
    const idempotencyKey = readIdempotencyKey(request);
    if (idempotencyKey === null) throw new ProblemError(INVALID_IDEMPOTENCY_KEY);
    const asker = { requestId: request.id, clientAddress: request.ip, key, idempotencyKey };
    const { response, isReplay } = await this.settlement.settle(body, asker);
    if (isReplay) void reply.header(IDEMPOTENT_REPLAYED, 'true');
    // Shows the server that this facilitator supports the key; without support, a repeat might get a different result.
    if (idempotencyKey !== undefined) void reply.header('Idempotency-Key', idempotencyKey);
    return response;
  }

  @Get('supported')
  @ForServers('supported', {
    summary: 'The supported kinds of payments',
    description: 'With an API key that is limited, those within its limit.',
    answers: {
      200: answerWith('The supported kinds of payments, and the accounts that send settlements.', supportedResponse),
    },
  })
  supported(@OptionalCaller() key: ApiKey | null): Promise<SupportedResponse> {
    return this.kinds.read(key);
  }

  @Get('discovery/resources')
  @RouteConfig({ access: 'free' })
  @DescribeRoute(FACILITATOR_TAG, {
    summary: 'The paid resources of the gateway',
    description:
      'URLs begin with PUBLIC_URL; the list is empty without it. The payment requirements lack the references that challenges have.',
    answers: { 200: answerWith('In the order of the routes.', discoveryResponse) },
    problems: { 400: 'A parameter is not valid.' },
  })
  resources(@Query({ schema: listingQuery }) query: ListingQuery): DiscoveryResponse {
    return this.listing.list(query);
  }
}
