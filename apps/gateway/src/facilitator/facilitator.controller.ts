import { Body, Controller, Get, HttpCode, Inject, Post, Query, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ProblemError, type ApiKey } from '@tollgate/common';
import {
  IDEMPOTENT_REPLAYED,
  type DiscoveryResponse,
  type SettleResponse,
  type SupportedResponse,
  type VerifyResponse,
} from '@tollgate/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { OptionalCaller } from '../agent/access/caller.js';
import { INVALID_IDEMPOTENCY_KEY, readIdempotencyKey } from '../server/idempotency-key.js';
import { FacilitatorSettlement } from './facilitator-settlement.js';
import { FacilitatorVerification } from './facilitator-verification.js';
import { ForServers } from './for-servers.js';
import { parseListingQuery } from './parse-listing-query.js';
import { ResourceListing } from './resource-listing.js';
import { SupportedKinds } from './supported-kinds.js';

/** The x402 facilitator API. */
@Controller('facilitator')
export class FacilitatorController {
  constructor(
    @Inject(FacilitatorVerification) private readonly verification: FacilitatorVerification,
    @Inject(FacilitatorSettlement) private readonly settlement: FacilitatorSettlement,
    @Inject(SupportedKinds) private readonly kinds: SupportedKinds,
    @Inject(ResourceListing) private readonly listing: ResourceListing,
  ) {}

  @Post('verify')
  @HttpCode(200)
  @ForServers({ settles: false })
  verify(@Body() body: unknown, @Req() { id: requestId, ip: clientAddress }: FastifyRequest): Promise<VerifyResponse> {
    return this.verification.verify(body, { requestId, clientAddress });
  }

  @Post('settle')
  @HttpCode(200)
  @ForServers({ settles: true })
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
  @RouteConfig({ access: 'free' })
  supported(): Promise<SupportedResponse> {
    return this.kinds.read();
  }

  @Get('discovery/resources')
  @RouteConfig({ access: 'free' })
  resources(@Query() query: unknown): DiscoveryResponse {
    return this.listing.list(parseListingQuery(query));
  }
}
