import { RpcException } from '@nestjs/microservices';

import { MalformedMessageError } from './message-fields.js';

/** Parses the payload of a message. The sender of a malformed one is told what is wrong with it. @throws RpcException */
export function parsePayload<T>(message: unknown, parse: (message: unknown) => T): T {
  try {
    return parse(message);
  } catch (error) {
    if (error instanceof MalformedMessageError) throw new RpcException(error.message);
    throw error;
  }
}
