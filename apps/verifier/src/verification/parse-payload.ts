import { RpcException } from '@nestjs/microservices';
import { MalformedMessageError } from '@tollgate/verification';

/** Parses the payload of a message. @throws RpcException that names what is wrong with a malformed one */
export function parsePayload<T>(message: unknown, parse: (message: unknown) => T): T {
  try {
    return parse(message);
  } catch (error) {
    if (error instanceof MalformedMessageError) throw new RpcException(error.message);
    throw error;
  }
}
